import type { Server, ServerResponse } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import fastify, { type FastifyInstance } from 'fastify'
import { loginGuard, type Policy, rateLimit, type Store } from 'headgate'
import * as onFastify from 'headgate/fastify'
import * as onHono from 'headgate/hono'
import * as onKoa from 'headgate/koa'
import { type Context, Hono } from 'hono'
import Koa from 'koa'
import onHeaders from 'on-headers'
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
    setHeaders(res, earlier)
    next()
  }
}

/** Middleware that sets headers when the response is about to be sent, as most do that patch responses. */
export const LATER: Readonly<Record<string, typeof setEarlier>> = {
  'on-headers': (later) => (_req, res, next) => {
    onHeaders(res, () => setHeaders(res, later))
    next()
  },
  'a patched writeHead': (later) => (_req, res, next) => {
    const { writeHead } = res
    res.writeHead = (status: number) => writeHead.call(res, status, later as never)
    next()
  },
  'a patched end': (later) => (_req, res, next) => {
    const { end } = res
    res.end = (...args: unknown[]) => {
      setHeaders(res, later)
      return end.apply(res, args as never)
    }
    next()
  },
}

function setHeaders(res: ServerResponse, headers: Headers): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
}

const respondWith401: Handler = (_req, res) => {
  res.statusCode = 401
  res.end()
}

function onNode({ app }: (typeof FRAMEWORKS)[number], set = setEarlier): ServeDenying {
  return ({ options, guard, byApp }, earlier) => {
    const onDenied: Handler = (_req, res) => {
      if (byApp?.cacheControl) res.setHeader('Cache-Control', byApp.cacheControl)
      res.end('no')
    }
    const middleware = options
      ? rateLimit({ ...options, ...(byApp && { onDenied }) })
      : loginGuard(guard as Guard)
    return serve(app(set(earlier), middleware as Handler, respondWith401))
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

const inKoa =
  (set: (ctx: Koa.Context, next: Koa.Next, headers: Headers) => unknown): ServeDenying =>
  ({ options, guard, byApp }, earlier) => {
    const app = new Koa()
    app.use((ctx, next) => set(ctx, next, earlier))
    const onDenied = (ctx: Koa.Context) => {
      if (byApp?.cacheControl) ctx.set('Cache-Control', byApp.cacheControl)
      ctx.body = 'no'
    }
    app.use(
      options
        ? onKoa.rateLimit({ ...options, ...(byApp && { onDenied }) })
        : onKoa.loginGuard(guard as Guard),
    )
    app.use((ctx) => {
      ctx.status = 401
    })
    return serve(app.callback())
  }

const inHono =
  (set: (c: Context, next: () => Promise<void>, headers: Headers) => Promise<void>): ServeDenying =>
  ({ options, guard, byApp }, earlier) => {
    const app = new Hono()
    app.use((c, next) => set(c, next, earlier))
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
  [
    'Koa',
    inKoa((ctx, next, earlier) => {
      ctx.set(earlier)
      return next()
    }),
  ],
  [
    'Hono',
    inHono((c, next, earlier) => {
      for (const [name, value] of Object.entries(earlier)) c.header(name, value)
      return next()
    }),
  ],
]

/** Servers whose outer middleware sets headers of each response after the limiter has denied. */
export const OUTER_SERVERS: readonly (readonly [string, ServeDenying])[] = [
  ...FRAMEWORKS.flatMap((framework) =>
    Object.entries(LATER).map(
      ([how, set]) => [`${framework.name} with ${how}`, onNode(framework, set)] as const,
    ),
  ),
  [
    'Fastify with onSend',
    inFastify((app, later) =>
      app.addHook('onSend', async (_request, reply, payload) => {
        reply.headers(later)
        return payload
      }),
    ),
  ],
  [
    'Fastify with on-headers',
    inFastify((app, later) =>
      app.addHook('onRequest', (request, reply, done) =>
        LATER['on-headers']?.(later)(request.raw, reply.raw, () => done()),
      ),
    ),
  ],
  [
    'Koa',
    inKoa(async (ctx, next, later) => {
      await next()
      ctx.set(later)
    }),
  ],
  [
    'Koa with on-headers',
    inKoa((ctx, next, later) => LATER['on-headers']?.(later)(ctx.req, ctx.res, () => undefined) ?? next()),
  ],
  [
    'Hono with c.header',
    inHono(async (c, next, later) => {
      await next()
      for (const [name, value] of Object.entries(later)) c.header(name, value)
    }),
  ],
  [
    'Hono with another response',
    inHono(async (c, next, later) => {
      await next()
      c.res = new Response(c.res.body, {
        status: c.res.status,
        headers: { ...Object.fromEntries(c.res.headers), ...later },
      })
    }),
  ],
]
