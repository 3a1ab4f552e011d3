import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import Router from '@koa/router'
import express, { type RequestHandler } from 'express'
import express4 from 'express4'
import fastify, { type preHandlerHookHandler } from 'fastify'
import { loginGuard } from 'headgate'
import * as ofFastify from 'headgate/fastify'
import * as ofKoa from 'headgate/koa'
import { redisStore } from 'headgate/redis'
import Koa, { type Middleware } from 'koa'
import { bundleSources } from '../../support/servers/bundle.js'
import { listenForWarnings } from '../../support/warnings.js'
import { useRedis } from '../redis/use-redis.js'
import { FRESH_PROCESSES, freshOptions } from './fresh-options.js'

type Options = ReturnType<typeof freshOptions>
type Status = (body: unknown) => number

const redis = useRedis()
const mount = jest.requireActual<(path: string, routes: unknown) => Middleware>('koa-mount')

const statusOf: Status = (body) => ((body as { password?: unknown }).password === 'right' ? 200 : 401)

type Framework = typeof express
type ExpressMount = (app: express.Express, guard: RequestHandler, framework: Framework) => unknown

const check: RequestHandler = ({ body }, res) => void res.sendStatus(statusOf(body))

function onExpress(framework: Framework, define: ExpressMount) {
  return (options: Options): Server => {
    const app = framework().use(express.json())
    define(app, loginGuard(options as never), framework)
    return createServer(app)
  }
}

const wrapped: ExpressMount = (app, guard) =>
  app.post('/login', (req, res, next) => guard(req, res, next), check)
const below: ExpressMount = (app, guard, framework) => app.use(framework().post('/login', guard, check))

function onKoa(define: (app: Koa, guard: Middleware, router: Router) => unknown) {
  return (options: Options): Server => {
    const app = new Koa().use(async (ctx, next) => {
      Object.assign(ctx.request, { body: await json(ctx.req) })
      await next()
    })
    define(app, ofKoa.loginGuard(options as never) as never, new Router())
    return createServer(app.callback())
  }
}

const checkOnKoa: Middleware = (ctx) => {
  ctx.status = statusOf((ctx.request as { body?: unknown }).body)
}

function onFastify(method: string[], wrap: (guard: preHandlerHookHandler) => preHandlerHookHandler) {
  return async (options: Options): Promise<Server> => {
    const app = fastify()
    const preHandler = wrap(ofFastify.loginGuard(options as never) as never)
    app.route({
      method,
      url: '/login',
      preHandler,
      handler: ({ body }, reply) => reply.code(statusOf(body)).send(),
    })
    await app.ready()
    return app.server
  }
}

/** Layouts in which no request shows that the guard is only in the route of the login. */
const LAYOUTS: readonly (readonly [string, (options: Options) => Server | Promise<Server>])[] = [
  ['Express with a wrapped guard', onExpress(express, wrapped)],
  ['Express 4 with a wrapped guard', onExpress(express4 as unknown as Framework, wrapped)],
  ['an application mounted in Express', onExpress(express, below)],
  ['an application mounted in Express 4', onExpress(express4 as unknown as Framework, below)],
  [
    'koa-mount',
    onKoa((app, guard, router) => app.use(mount('/login', router.post('/', guard, checkOnKoa).routes()))),
  ],
  [
    'Koa with a wrapped guard',
    onKoa((app, guard, router) =>
      app.use(router.post('/login', (ctx, next) => guard(ctx, next), checkOnKoa).routes()),
    ),
  ],
  [
    'Fastify with a wrapped guard',
    onFastify(
      ['POST'],
      (guard) =>
        function (request, reply, done) {
          return guard.call(this, request, reply, done)
        },
    ),
  ],
  ['a route of Fastify with two methods', onFastify(['GET', 'POST'], (guard) => guard)],
]

async function send(port: number, password: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ada', password }),
  })
  await response.arrayBuffer()
  return response.status
}

/** A user who mistypes in one process, and logs in in others that have seen no wrong password. */
async function mistypeAndLogIn([first, ...others]: readonly number[]): Promise<number[]> {
  const statuses: number[] = []
  for (const other of others) {
    for (let i = 0; i < 3; i++) await send(first as number, 'wrong')
    statuses.push(await send(other, 'right'))
  }
  return statuses
}

const ways = [undefined, '/login']

describe.each(LAYOUTS)('behind %s', (name, start) => {
  test.each(ways)('fresh processes lock no user out, with the path %s', async (path) => {
    const warnings = listenForWarnings()
    const servers: Server[] = []
    try {
      for (let i = 0; i < FRESH_PROCESSES; i++) {
        const server = await start(freshOptions(redisStore(redis.client), name, path))
        await once(server.listen(0, '127.0.0.1'), 'listening')
        servers.push(server)
      }
      const ports = servers.map((server) => (server.address() as AddressInfo).port)
      expect(await mistypeAndLogIn(ports)).toEqual([200, 200, 200])
      const codes = new Set(warnings())
      expect([...codes]).toEqual(path ? [] : ['HEADGATE_LOGIN_PATH'])
    } finally {
      jest.restoreAllMocks()
      for (const server of servers) server.close().closeAllConnections()
    }
  })
})

test.each(ways)(
  'behind Nest, fresh processes lock no user out, with the path %s',
  async (path) => {
    const program = await bundleSources(join(__dirname, 'fresh-nest.ts'))
    const child = spawn(process.execPath, [program.path, redis.server.url, path ?? ''], {
      cwd: join(__dirname, '../../..'),
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
    })
    const exited = once(child, 'exit')
    try {
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
      expect(await mistypeAndLogIn(JSON.parse(line))).toEqual([201, 201, 201])
    } finally {
      child.kill()
      await exited
      await program.remove()
    }
  },
  120_000,
)
