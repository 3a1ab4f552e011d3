import { createServer, type RequestListener, type Server } from 'node:http'
import express, { type RequestHandler } from 'express'
import { overloadGuard, rateLimit } from 'headgate'

/** What stands before a handler: what the guard of overload costs is compared with the others. */
export const LIVE_GUARDS = {
  nothing: () => (_req, _res, next) => next(),
  overloadGuard: () => overloadGuard(),
  'rateLimit, no headers': () => rateLimit({ limit: 10_000_000, window: '24h', headers: 'none' }),
  'rateLimit, legacy headers': () => rateLimit({ limit: 10_000_000, window: '24h', headers: 'legacy' }),
  'a counter by hand': counter,
} as const satisfies Readonly<Record<string, () => RequestHandler>>

export type LiveGuardName = keyof typeof LIVE_GUARDS

/** The least that bounds how many requests run: a fixed limit, which holds places until a response is over. */
function counter(): RequestHandler {
  let running = 0
  return (_req, res, next) => {
    if (running >= 1000) {
      res.status(503).end()
      return
    }
    running++
    res.once('close', () => running--)
    next()
  }
}

/** Servers that say hello behind middleware, by the name of what serves. */
export const GUARDED = {
  Express(middleware: readonly RequestHandler[]): Server {
    const app = express()
    for (const each of middleware) app.use(each)
    app.get('/', (_req, res) => {
      res.send('hello')
    })
    return createServer(app)
  },
  'node:http'(middleware: readonly RequestHandler[]): Server {
    const hello: RequestListener = (_req, res) => {
      res.setHeader('Content-Length', 5)
      res.end('hello')
    }
    return createServer(middleware.reduceRight<RequestListener>(around, hello))
  },
} as const satisfies Readonly<Record<string, (middleware: readonly RequestHandler[]) => Server>>

export type GuardedName = keyof typeof GUARDED

function around(inner: RequestListener, middleware: RequestHandler): RequestListener {
  return (req, res) =>
    middleware(req as never, res as never, (error?: unknown) => {
      if (error) res.writeHead(500).end()
      else inner(req, res)
    })
}
