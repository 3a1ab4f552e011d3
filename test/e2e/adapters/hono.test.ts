import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import {
  type Decision,
  type FetchInfo,
  type FetchSubject,
  type LoginGuardOptions,
  loginGuard,
  type RateLimit,
  type RateLimitOptions,
  rateLimit,
} from 'headgate/fetch'
import { type Context, Hono } from 'hono'
import { limitedAnswer, limitersOf, makeApplication, type Running } from './application.js'
import { adapterCases } from './cases.js'
import { loginCases } from './login-cases.js'

function onLimited(_subject: FetchSubject, decision: Decision): Response {
  const { status, text } = limitedAnswer(decision)
  return new Response(text, { status })
}

function start(): Promise<Running> {
  const application = makeApplication()
  const app = new Hono().onError((_error, c) => c.text('failed', 500))

  async function infoOf(c: Context): Promise<FetchInfo> {
    const body = await c.req.json().catch(() => undefined) // a Request with GET has no body
    return { ip: getConnInfo(c).remote.address, user: application.userOf(c.req.raw), body }
  }

  function use(name: string, limiters: readonly RateLimit[]): void {
    for (const limit of limiters)
      app.use(`/${name}`, async (c, next) => {
        const refused = await limit(c.req.raw, await infoOf(c))
        if (refused) return refused
        await next()
        const response = limit.finish(c.req.raw, c.res)
        if (response !== c.res) c.res = response
      })
    app.all(`/${name}`, async (c) => {
      const decision = limiters.at(-1)?.decisionOf(c.req.raw)
      const { status, text } = await application.handle(name, c.req.raw, decision)
      return new Response(text, { status })
    })
  }

  for (const [name, scenario] of application.scenarios) {
    const limiters = limitersOf(scenario, (options) =>
      rateLimit({ ...(options as RateLimitOptions), ...(scenario.isAnsweredByApp && { onLimited }) }),
    )
    use(name, limiters)
  }
  for (const [name, options] of application.guards)
    use(name, [loginGuard({ ...options, path: `/${name}` } as LoginGuardOptions)])
  return application.listen(createAdaptorServer({ fetch: app.fetch }) as Server)
}

adapterCases({ name: 'Hono', start })
loginCases({ name: 'Hono', start })
