import { createServer, type RequestListener, type Server } from 'node:http'
import express, { type RequestHandler } from 'express'

/** Servers that say hello behind middleware, by the name of what serves. */
export const GUARDED = {
  'node:http'(middleware: readonly RequestHandler[]): Server {
    const hello: RequestListener = (_req, res) => {
      res.setHeader('Content-Length', 5)
      res.end('hello')
    }
    return createServer(middleware.reduceRight<RequestListener>(around, hello))
  },
  Express(middleware: readonly RequestHandler[]): Server {
    const app = express()
    for (const each of middleware) app.use(each)
    app.get('/', (_req, res) => {
      res.send('hello')
    })
    return createServer(app)
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
