import http from 'node:http'
import express, { type Request, type Response } from 'express'
import { type Decision, type Next, rateLimit } from 'headgate'
import { limitedAnswer, limitersOf, makeApplication, type Running } from './application.js'
import { adapterCases } from './cases.js'

function onLimited(_req: Request, res: Response, _next: Next, decision: Decision): void {
  const { status, text } = limitedAnswer(decision)
  res.status(status).send(text)
}

function start(): Promise<Running> {
  const application = makeApplication()
  const app = express()
  app.use(express.json(), (req, _res, next) => {
    Object.assign(req, { user: application.userOf(req) })
    next()
  })
  for (const [name, scenario] of application.scenarios) {
    const limiters = limitersOf(scenario, (options) =>
      rateLimit<Request, Response>(scenario.isAnsweredByApp ? { ...options, onLimited } : options),
    )
    app.all(`/${name}`, limiters, async (req: Request, res: Response) => {
      const { status, text } = await application.handle(name, req, req.rateLimit)
      res.status(status).send(text)
    })
  }
  return application.listen(http.createServer(app))
}

adapterCases({ name: 'Express 5', start })
