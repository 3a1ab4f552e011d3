import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Decision, rateLimit } from 'headgate/http'
import type { Next } from '../../../src/http/options.js'
import type { RateLimited } from '../../../src/http/rate-limit.js'
import {
  type HandlerAnswer,
  limitedAnswer,
  limitersOf,
  makeApplication,
  type Running,
} from './application.js'
import { adapterCases } from './cases.js'

function respond(res: ServerResponse, { status, text }: HandlerAnswer): void {
  res.statusCode = status
  res.end(text)
}

function onDenied(_req: IncomingMessage, res: ServerResponse, _next: Next, decision: Decision): void {
  res.end(limitedAnswer(decision).text) // with the status of the option
}

function start(): Promise<Running> {
  const application = makeApplication()
  const routes = new Map(
    application.scenarios.map(([name, scenario]) => {
      const limiters = limitersOf(scenario, (options) =>
        rateLimit(scenario.isAnsweredByApp ? { ...options, onDenied } : options),
      )
      return [`/${name}`, limiters]
    }),
  )
  async function handle(req: RateLimited, res: ServerResponse): Promise<void> {
    const body = await text(req)
    Object.assign(req, { body: body && JSON.parse(body), user: application.userOf(req) })
    const path = req.url ?? ''
    try {
      for (const limiter of routes.get(path) ?? [])
        await new Promise<void>((resolve, reject) => limiter(req, res, (e) => (e ? reject(e) : resolve())))
      respond(res, await application.handle(path.slice(1), req, req.rateLimit))
    } catch {
      respond(res, { status: 500, text: 'failed' })
    }
  }
  return application.listen(http.createServer(handle))
}

adapterCases({ name: 'node:http', start })
