import http, { type RequestListener } from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import type { Server } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { All, Controller, HttpException, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import fastify from 'fastify'
import { createLimiter, loginGuard, rateLimit } from 'headgate'
import { rateLimit as dropIn } from 'headgate/express-rate-limit'
import { loginGuard as fastifyGuard, rateLimit as fastifyLimit } from 'headgate/fastify'
import { loginGuard as fetchGuard, rateLimit as fetchLimit } from 'headgate/fetch'
import { loginGuard as honoGuard, rateLimit as honoLimit } from 'headgate/hono'
import { loginGuard as koaGuard, rateLimit as koaLimit } from 'headgate/koa'
import { loginGuard as nestGuard, RateLimitModule } from 'headgate/nest'
import { Hono } from 'hono'
import Koa from 'koa'
import { makeCertificate } from '../../support/certificate.js'
import { EXPRESS_5, FRAMEWORKS, type Handler, NODE_HTTP } from '../../support/frameworks.js'

/** Options that all adapters take: those of a limit, or of the guard of a login at which all attempts fail. */
export type Options = Parameters<typeof createLimiter>[0] | typeof LOGIN

/** A guarded login to one account. */
export const LOGIN = { account: () => 'ada', path: '/' } as const

/** Creates a server that calls `reach` for each request that gets past its limiter. */
export type Serve = (options: Options, reach: () => void) => Server | Promise<Server>

/** How long an async middleware takes, in which a client may leave. */
const WAIT_MS = 4

/** Returns what makes the limit or the guard of an adapter, for its options. */
const either =
  <L, G>(limit: (options: never) => L, guard: (options: never) => G) =>
  (options: Options): L | G =>
    options === LOGIN ? guard(options as never) : limit(options as never)

/** Returns the status of the handler's responses. */
const statusOf = (options: Options) => (options === LOGIN ? 401 : 200)

const hello =
  (status: number, reach: () => void): Handler =>
  (_req, res) => {
    reach()
    res.writeHead(status).end('hello')
  }

type Wrap = (listener: RequestListener) => Server | Promise<Server>

const plain: Wrap = (listener) => http.createServer(listener)
const withTls: Wrap = async (listener) => https.createServer(await makeCertificate(), listener)
const http2Clear: Wrap = (listener) => http2.createServer(listener as never)

const nodeLimit = either(rateLimit, loginGuard)

const onNode =
  ({ app }: typeof NODE_HTTP, wrap: Wrap = plain): Serve =>
  (options, reach) =>
    wrap(app(nodeLimit(options) as Handler, hello(statusOf(options), reach)))

const onHono =
  (waitMs?: number): Serve =>
  (options, reach) => {
    const app = new Hono()
    app.use(async (_c, next) => {
      if (waitMs !== undefined) await new Promise((resolve) => setTimeout(resolve, waitMs))
      await next()
    })
    app.use(either(honoLimit, honoGuard)(options)).all('/', (c) => {
      reach()
      return c.text('hello', statusOf(options))
    })
    return createAdaptorServer({ fetch: app.fetch }) as Server
  }

/** With `isGiven`, passes on the address of the socket. */
const onFetch =
  (isGiven: boolean): Serve =>
  (options, reach) => {
    const limit = either(fetchLimit, fetchGuard)(options)
    function respond(request: Request, { incoming }: { incoming: http.IncomingMessage }) {
      const info = isGiven ? { ip: incoming.socket.remoteAddress } : {}
      return limit.handle(request, info, () => {
        reach()
        return new Response('hello', { status: statusOf(options) })
      })
    }
    return createAdaptorServer({ fetch: respond as never }) as Server
  }

const onNest =
  (makeAdapter: () => ExpressAdapter | FastifyAdapter): Serve =>
  async (options, reach) => {
    @Controller()
    class Root {
      @All()
      respond(): string {
        reach()
        if (options === LOGIN) throw new HttpException('hello', 401)
        return 'hello'
      }
    }
    const limits = options === LOGIN ? {} : options
    @Module({ imports: [RateLimitModule.forRoot(limits as never)], controllers: [Root] })
    class App {}
    const app = await NestFactory.create(App, makeAdapter() as ExpressAdapter, { logger: false })
    if (options === LOGIN) app.useGlobalGuards(nestGuard(LOGIN))
    await app.init()
    const adapter = app.getHttpAdapter()
    if (adapter.getType() === 'fastify') await adapter.getInstance().ready()
    return app.getHttpServer()
  }

async function onFastify(options: Options, reach: () => void): Promise<Server> {
  const app = fastify()
  if (options === LOGIN) app.addHook('preHandler', fastifyGuard(LOGIN))
  else await app.register(fastifyLimit, options as never)
  app.all('/', (_request, reply) => {
    reach()
    reply.code(statusOf(options)).send('hello')
  })
  await app.ready()
  return app.server
}

function onKoa(options: Options, reach: () => void): Server {
  const app = new Koa().use(either(koaLimit, koaGuard)(options)).use((ctx) => {
    reach()
    ctx.status = statusOf(options)
    ctx.body = 'hello'
  })
  return http.createServer(app.callback())
}

/** A handler that charges a limiter itself and expects no error, as a server of WebSockets does. */
function charging(options: Options, reach: () => void): Server {
  const limiter = createLimiter(options as never)
  return http.createServer(async (req, res) => {
    const { allowed } = await limiter.charge(req)
    if (allowed) reach()
    res.writeHead(allowed ? 200 : 429).end()
  })
}

/** Each adapter, and the protocols under it. */
export const ADAPTERS: Readonly<Record<string, Serve>> = {
  ...Object.fromEntries(FRAMEWORKS.map((framework) => [framework.name, onNode(framework)])),
  'node:http over TLS': onNode(NODE_HTTP, withTls),
  'node:http over HTTP/2': onNode(NODE_HTTP, http2Clear),
  Fastify: onFastify,
  Koa: onKoa,
  Hono: onHono(),
  'Hono behind async middleware': onHono(WAIT_MS),
  'headgate/fetch': onFetch(true),
  'headgate/fetch without ip': onFetch(false),
  'Nest on Express': onNest(() => new ExpressAdapter()),
  'Nest on Fastify': onNest(() => new FastifyAdapter()),
}

/** All servers that take each kind of limit. */
export const SERVERS: Readonly<Record<string, Serve>> = { ...ADAPTERS, 'limiter.charge': charging }

/** The drop-in for express-rate-limit, which has other options. */
export function onDropIn(options: Options, reach: () => void): Server {
  const { limit } = options as { limit?: unknown }
  const middleware = dropIn({ limit: Number(limit), windowMs: 3_600_000, validate: false })
  return http.createServer(EXPRESS_5.app(middleware as never, hello(200, reach)))
}
