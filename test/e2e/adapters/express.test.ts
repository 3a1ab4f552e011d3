import http from 'node:http'
import express, { type Request, type Response } from 'express'
import { type Decision, loginGuard, overloadGuard, rateLimit } from 'headgate'
import type { Next } from '../../../src/http/options.js'
import { limitedAnswer, limitersOf, makeApplication, type Running, timesMounted } from './application.js'
import { adapterCases } from './cases.js'
import { loginCases } from './login-cases.js'
import { overloadCases } from './overload-cases.js'

function onDenied(_req: Request, res: Response, _next: Next, decision: Decision): void {
  res.send(limitedAnswer(decision).text) // with the status of the option
}

function start(): Promise<Running> {
  const application = makeApplication()
  const app = express()
  app.use(express.json(), (req, _res, next) => {
    Object.assign(req, { user: application.userOf(req) })
    next()
  })
  const handlerOf = (name: string) => async (req: Request, res: Response) => {
    const { status, text } = await application.handle(name, req, req.rateLimit)
    res.status(status).send(text)
  }
  for (const [name, scenario] of application.scenarios) {
    const limiters = limitersOf(scenario, (options) =>
      rateLimit<Request, Response>(scenario.isAnsweredByApp ? { ...options, onDenied } : options),
    )
    app.all(`/${name}`, limiters, handlerOf(name))
  }
  for (const [name, options] of application.guards)
    app.all(`/${name}`, loginGuard<Request, Response>(options), handlerOf(name))
  for (const [name, overload] of application.overloads) {
    const { options, isAnsweredByApp } = overload
    const guard = overloadGuard<Request, Response>({ ...options, ...(isAnsweredByApp && { onDenied }) })
    app.all(`/${name}`, timesMounted(overload, guard), handlerOf(name))
  }
  return application.listen(http.createServer(app))
}

adapterCases({ name: 'Express 5', start })
loginCases({ name: 'Express 5', start })
overloadCases({ name: 'Express 5', start })
