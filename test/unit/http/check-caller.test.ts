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

const GUARD = { field: 'username' } as const

test.each<[string, Serve, () => unknown, string]>([
  [
    'rateLimit of headgate in Koa',
    inKoa,
    () => rateLimit(options),
    'rateLimit: call the function that it returns with (req, res, next). Each framework has its own entry: ',
  ],
  ['loginGuard of headgate in Koa', inKoa, () => loginGuard(GUARD), "'headgate/koa'"],
  ['the drop-in in Koa', inKoa, () => dropIn({ limit: 5 }), "'headgate/koa'"],
  ['rateLimit of headgate in Hono', inHono, () => rateLimit(options), "'headgate/hono'"],
  ['rateLimit of headgate in Fastify', inFastify, () => rateLimit(options), "'headgate/fastify'"],
  ['loginGuard of headgate in Fastify', inFastify, () => loginGuard(GUARD), "'headgate/fastify'"],
  [
    'rateLimit of headgate/koa in Express',
    inExpress,
    () => ofKoa.rateLimit(options),
    "with (ctx, next). Each framework has its own entry: 'headgate' is for Express",
  ],
  [
    'loginGuard of headgate/koa in Express',
    inExpress,
    () => ofKoa.loginGuard(GUARD),
    "'headgate' is for Express",
  ],
  [
    'rateLimitHook of headgate/fastify in Express',
    inExpress,
    () => ofFastify.rateLimitHook(options),
    "'headgate' is for Express",
  ],
  [
    'rateLimit of headgate/fetch in Express',
    inExpress,
    () => ofFetch.rateLimit(options),
    "'headgate' is for Express",
  ],
  ['rateLimit of headgate/fetch in Koa', inKoa, () => ofFetch.rateLimit(options), "'headgate/koa'"],
  ['rateLimit of headgate/fetch in Hono', inHono, () => ofFetch.rateLimit(options), "'headgate/hono'"],
])('%s fails with an error that names the right entry', async (_what, serve, make, message) => {
  const error = await serve(make() as never)
  expect(error).toBeInstanceOf(TypeError)
  expect((error as Error).message).toContain(message)
})

test.each<[string, readonly unknown[], string]>([
  ['a fetch handler', [new Request('http://localhost/'), {}], "'headgate/fetch'"],
  ['SvelteKit', [{ event: { request: new Request('http://localhost/') }, resolve() {} }], "'headgate/fetch'"],
  ['NestJS', [{ getHandler() {}, getClass() {}, switchToHttp() {} }], "'headgate/nest'"],
  ['anything else', [], 'rateLimit: call the function that it returns with (req, res, next).'],
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
  expect(seen).toMatchObject({
    message: expect.stringContaining('call the function that it returns with (req, res, next).'),
  })
})
