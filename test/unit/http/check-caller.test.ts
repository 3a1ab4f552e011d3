import { createServer, type RequestListener } from 'node:http'
import express from 'express'
import fastify from 'fastify'
import { loginGuard, rateLimit } from 'headgate'
import { rateLimit as dropIn } from 'headgate/express-rate-limit'
import * as ofFastify from 'headgate/fastify'
import * as ofFetch from 'headgate/fetch'
import * as ofKoa from 'headgate/koa'
import { Hono } from 'hono'
import Koa from 'koa'
import request from 'supertest'

const options = { limit: 5, window: '1m' } as const

/** Mounts what a factory returned, sends a request, and returns the error that the framework was given. */
type Serve = (middleware: never) => Promise<unknown>

const inKoa: Serve = async (middleware) => {
  let seen: unknown
  const app = new Koa().use(middleware)
  app.on('error', (error) => {
    seen = error
  })
  await request(app.callback()).get('/')
  return seen
}

const inHono: Serve = async (middleware) => {
  let seen: unknown
  const app = new Hono().use(middleware)
  app.onError((error, c) => {
    seen = error
    return c.text('failed', 500)
  })
  await app.request('/')
  return seen
}

const inFastify: Serve = async (middleware) => {
  let seen: unknown
  const app = fastify()
  app.setErrorHandler((error, _request, reply) => {
    seen = error
    reply.code(500).send()
  })
  app.get('/', { onRequest: middleware }, () => 'hello')
  await app.ready()
  await request(app.server).get('/')
  return seen
}

const inExpress: Serve = async (middleware) => {
  let seen: unknown
  const app = express().use(middleware)
  app.use((error: unknown, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
    seen = error
    res.sendStatus(500)
  })
  await request(app).get('/')
  return seen
}

const ofNode = 'for Express, Connect or node:http'
const GUARD = { field: 'username' } as const

test.each<[string, Serve, () => unknown, string]>([
  [
    'rateLimit of headgate in Koa',
    inKoa,
    () => rateLimit(options),
    `${ofNode}, but was called by Koa. Import rateLimit from 'headgate/koa'.`,
  ],
  ['loginGuard of headgate in Koa', inKoa, () => loginGuard(GUARD), "Import loginGuard from 'headgate/koa'."],
  ['the drop-in in Koa', inKoa, () => dropIn({ limit: 5 }), "Import rateLimit from 'headgate/koa'."],
  [
    'rateLimit of headgate in Hono',
    inHono,
    () => rateLimit(options),
    `${ofNode}, but was called by Hono. Import rateLimit from 'headgate/hono'`,
  ],
  [
    'rateLimit of headgate in Fastify',
    inFastify,
    () => rateLimit(options),
    "Register the plugin rateLimit from 'headgate/fastify'",
  ],
  [
    'loginGuard of headgate in Fastify',
    inFastify,
    () => loginGuard(GUARD),
    "Import loginGuard from 'headgate/fastify'.",
  ],
  [
    'rateLimit of headgate/koa in Express',
    inExpress,
    () => ofKoa.rateLimit(options),
    "for Koa, but was called by Express, Connect or node:http. Import rateLimit from 'headgate'",
  ],
  [
    'loginGuard of headgate/koa in Express',
    inExpress,
    () => ofKoa.loginGuard(GUARD),
    "Import loginGuard from 'headgate'",
  ],
  [
    'rateLimitHook of headgate/fastify in Express',
    inExpress,
    () => ofFastify.rateLimitHook(options),
    "Import rateLimit from 'headgate'",
  ],
  [
    'rateLimit of headgate/fetch in Express',
    inExpress,
    () => ofFetch.rateLimit(options),
    "Import rateLimit from 'headgate'",
  ],
  [
    'rateLimit of headgate/fetch in Koa',
    inKoa,
    () => ofFetch.rateLimit(options),
    "Import rateLimit from 'headgate/koa'.",
  ],
  [
    'rateLimit of headgate/fetch in Hono',
    inHono,
    () => ofFetch.rateLimit(options),
    "was called by Hono. Import rateLimit from 'headgate/hono'",
  ],
])('%s fails with an error that names the right entry', async (_what, serve, make, message) => {
  const error = await serve(make() as never)
  expect(error).toBeInstanceOf(TypeError)
  expect((error as Error).message).toContain(message)
})

test.each<[string, readonly unknown[], string]>([
  ['a fetch handler', [new Request('http://localhost/'), {}], "Import rateLimit from 'headgate/fetch'"],
  ['SvelteKit', [{ event: { request: new Request('http://localhost/') }, resolve() {} }], "'headgate/fetch'"],
  ['NestJS', [{ getHandler() {}, getClass() {}, switchToHttp() {} }], "'headgate/nest'"],
  [
    'anything else',
    [],
    'rateLimit: next must be a function, got undefined. Call what it returns with (req, res, next).',
  ],
])('middleware that %s calls throws a TypeError with the fix, each time', (_what, args, message) => {
  const limit = rateLimit(options) as unknown as (...args: readonly unknown[]) => void
  for (let i = 0; i < 2; i++) expect(() => limit(...args)).toThrow(message)
})

test('middleware in a handler of node:http without next is told to pass it', async () => {
  const limit = rateLimit(options) as unknown as RequestListener
  let seen: unknown
  const server = createServer((req, res) => {
    try {
      limit(req, res)
    } catch (error) {
      seen = error
    }
    res.end()
  })
  await request(server).get('/')
  expect(seen).toMatchObject({ message: expect.stringContaining('next must be a function, got undefined.') })
})
