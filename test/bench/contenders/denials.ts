import { createServer, type Server } from 'node:http'
import express, { type Express, type RequestHandler } from 'express'
import { MIDDLEWARES, type MiddlewareName } from './middlewares.js'

function app(...middleware: readonly RequestHandler[]): Express {
  const made = express()
  for (const each of middleware) made.use(each)
  return made.get('/', (_req, res) => {
    res.send('hello')
  })
}

/** Lets one request through in 24 hours, with `X-RateLimit-*`. */
function limiting(name: MiddlewareName): RequestHandler {
  return MIDDLEWARES[name](1, 'legacy') as unknown as RequestHandler
}

/** Servers by name: one that says hello, and others that have said it once. */
export const DENIALS = {
  'a route that says hello': () => createServer(app()),
  headgate: () => createServer(app(limiting('headgate'))),
  'headgate before Express': () => {
    const limiter = MIDDLEWARES.headgate(1, 'legacy') as unknown as RequestHandler
    const hello = app()
    return createServer((req, res) => limiter(req as never, res as never, () => hello(req, res)))
  },
  'express-rate-limit': () => createServer(app(limiting('express-rate-limit'))),
  'rate-limiter-flexible': () => createServer(app(limiting('rate-limiter-flexible'))),
} as const satisfies Record<string, () => Server>

export type DenialName = keyof typeof DENIALS
