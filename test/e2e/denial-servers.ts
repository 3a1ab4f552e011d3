import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import fastify, { type FastifyInstance } from 'fastify'
import { loginGuard, type Policy, rateLimit, type Store } from 'headgate'
import * as onFastify from 'headgate/fastify'
import * as onHono from 'headgate/hono'
import * as onKoa from 'headgate/koa'
import { Hono } from 'hono'
import Koa from 'koa'
import { FRAMEWORKS, type Handler } from '../support/frameworks.js'
import { closeWithServers, serve, type Target } from '../support/http.js'

/** What stands in front of a handler, in any framework. */
export interface Denying {
  readonly options?: Limit
  readonly guard?: Guard
  /** Whether `onDenied` responds with `no`, and the `Cache-Control` that it sets then. */
  readonly byApp?: { readonly cacheControl?: string }
}

interface Limit {
  readonly limit: number
  readonly window: '1m'
  readonly cost: number
  readonly block?: string[]
  readonly store?: Store
  readonly onStoreError?: 'deny'
}

type Guard =
  | { readonly field: string }
  | { readonly account: () => string; readonly limits: { readonly account: Policy }; readonly store: Store }

type Headers = Readonly<Record<string, string>>

/** Serves it behind middleware that sets headers. The handler responds with 401. */
type ServeDenying = (denying: Denying, earlier: Headers) => Promise<Target>

export function setEarlier(earlier: Headers): Handler {
  return (_req, res, next) => {
    for (const [name, value] of Object.entries(earlier)) res.setHeader(name, value)
    next()
  }
}

function onNode({ app }: (typeof FRAMEWORKS)[number]): ServeDenying {
  return ({ options, guard, byApp }, earlier) => {
    const onDenied: Handler = (_req, res) => {
      if (byApp?.cacheControl) res.setHeader('Cache-Control', byApp.cacheControl)
      res.end('no')
    }
    const middleware = options
      ? rateLimit({ ...options, ...(byApp && { onDenied }) })
      : loginGuard(guard as Guard)
    return serve(app(setEarlier(earlier), middleware as Handler, (_req, res) => res.writeHead(401).end()))
  }
}

function inFastify(addEarlier: (app: FastifyInstance, earlier: Headers) => unknown): ServeDenying {
  return async ({ options, guard, byApp }, earlier) => {
    const app = fastify()
    closeWithServers(() => app.close())
    addEarlier(app, earlier)
    const onDenied: onFastify.RateLimitHookOptions['onDenied'] = (_request, reply) => {
      if (byApp?.cacheControl) reply.header('Cache-Control', byApp.cacheControl)
      return reply.send('no')
    }
    const hook = options
      ? onFastify.rateLimitHook({ ...options, ...(byApp && { onDenied }) })
      : onFastify.loginGuard(guard as Guard)
    app.post('/', { preHandler: hook }, (_request, reply) => reply.code(401).send())
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app.addresses()[0] as Target
  }
}

const inKoa: ServeDenying = ({ options, guard, byApp }, earlier) => {
  const app = new Koa()
  app.use((ctx, next) => {
    ctx.set(earlier)
    return next()
  })
  const onDenied = (ctx: Koa.Context) => {
    if (byApp?.cacheControl) ctx.set('Cache-Control', byApp.cacheControl)
    ctx.body = 'no'
  }
  app.use(
    options ? onKoa.rateLimit({ ...options, ...(byApp && { onDenied }) }) : onKoa.loginGuard(guard as Guard),
  )
  app.use((ctx) => {
    ctx.status = 401
  })
  return serve(app.callback())
}

const inHono: ServeDenying = ({ options, guard, byApp }, earlier) => {
  const app = new Hono()
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(earlier)) c.header(name, value)
    await next()
  })
  const onDenied: onHono.RateLimitOptions['onDenied'] = (c) => {
    if (byApp?.cacheControl) c.header('Cache-Control', byApp.cacheControl)
    return c.text('no')
  }
  app.use(
    options
      ? onHono.rateLimit({ ...options, ...(byApp && { onDenied }) })
      : onHono.loginGuard(guard as Guard),
  )
  app.all('*', (c) => c.text('no', 401))
  const server = createAdaptorServer({ fetch: app.fetch }) as Server
  return serve((req, res) => server.emit('request', req, res))
}

export const DENYING_SERVERS: readonly (readonly [string, ServeDenying])[] = [
  ...FRAMEWORKS.map((framework) => [framework.name, onNode(framework)] as const),
  [
    'Fastify',
    inFastify((app, earlier) =>
      app.addHook('onRequest', async (_request, reply) => void reply.headers(earlier)),
    ),
  ],
  [
    'Fastify, with headers of the raw response',
    inFastify((app, earlier) =>
      app.addHook('onRequest', (request, reply, done) =>
        setEarlier(earlier)(request.raw, reply.raw, () => done()),
      ),
    ),
  ],
  ['Koa', inKoa],
  ['Hono', inHono],
]
