import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import connect from 'connect'
import express, { type RequestHandler } from 'express'
import express4 from 'express4'
import type { Next } from '../../src/http/options.js'

export type Handler = (req: IncomingMessage, res: ServerResponse, next: Next) => unknown

/** One of the ways to run middleware. Errors that reach `next` are answered with 500 and their message. */
export interface Framework {
  readonly name: string
  /** Runs the handlers in order; the last one answers. */
  app(...handlers: readonly Handler[]): RequestListener
}

function respondWithError(error: unknown, res: ServerResponse): void {
  const { message, status } = error as { message?: string; status?: number }
  if (res.headersSent) return
  res.statusCode = status ?? 500
  res.end(message ?? String(error))
}

function onExpress(make: () => express.Express): Framework['app'] {
  return (...handlers) => {
    const app = make()
    for (const handler of handlers) app.use(handler as RequestHandler)
    app.use((error: unknown, _req: express.Request, res: express.Response, _next: express.NextFunction) =>
      respondWithError(error, res),
    )
    return app
  }
}

function onConnect(...handlers: readonly Handler[]): RequestListener {
  const app = connect()
  for (const handler of handlers) app.use(handler as connect.NextHandleFunction)
  app.use((error: unknown, _req: IncomingMessage, res: ServerResponse, _next: Next) =>
    respondWithError(error, res),
  )
  return app
}

/** What a few lines around node:http do: each handler gets a `next` that goes to the one after it. */
function onNodeHttp(...handlers: readonly Handler[]): RequestListener {
  return (req, res) => {
    function run(index: number, error?: unknown): void {
      if (error !== undefined) respondWithError(error, res)
      else handlers[index]?.(req, res, (later) => run(index + 1, later))
    }
    run(0)
  }
}

export const EXPRESS_5: Framework = { name: 'Express 5', app: onExpress(express) }
export const NODE_HTTP: Framework = { name: 'node:http', app: onNodeHttp }

export const FRAMEWORKS: readonly Framework[] = [
  EXPRESS_5,
  { name: 'Express 4', app: onExpress(express4) },
  { name: 'Connect', app: onConnect },
  NODE_HTTP,
]

/** The handler behind the limiter in most tests. */
export const sayHello: Handler = (_req, res) => {
  res.end('hello')
}
