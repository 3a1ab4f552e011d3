import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Response as PonyResponse } from '@whatwg-node/fetch'
import express from 'express'
import fastify from 'fastify'
import { rateLimit as dropIn } from 'headgate/express-rate-limit'
import { rateLimit as fastifyLimit } from 'headgate/fastify'
import { rateLimit as fetchLimit } from 'headgate/fetch'
import { loginGuard, memoryStore, rateLimit } from 'headgate/http'
import { rateLimit as koaLimit } from 'headgate/koa'
import Koa from 'koa'

import { closeServers, closeWithServers, send, serve } from '../support/http.js'
import { recordWarnings } from '../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)

const failing = { limit: 1, window: '1m', key: ({ url }: IncomingMessage) => decodeURI(url ?? '') } as const

type Next = (error?: unknown) => void

/** Returns a callback as its author wrote it, with the comments that compilers remove. */
const bySource = (source: string) => (pass: () => void) => Function('pass', `return ${source}`)(pass) as Next

/** Ways to ignore an error. */
const DEAF: readonly (readonly [string, (pass: () => void) => Next])[] = [
  ['an arrow function', (pass) => () => pass()],
  ['an async arrow function', (pass) => async () => pass()],
  [
    'a function',
    (pass) =>
      function next() {
        pass()
      },
  ],
  ['a bound function', (pass) => (() => pass()).bind(undefined)],
  ['a proxy, as those of tracing agents,', (pass) => new Proxy(() => pass(), {})],
  ['a function with a comment for a parameter', bySource('function (/* error = 1 */) { pass() }')],
  ['a function with a comment before its name', bySource('function /* (...all) */ next() { pass() }')],
  ['a function with arguments in a comment', bySource('function () { /* no arguments */ pass() }')],
  ['a function with arguments in a string', bySource("function () { pass('arguments'.at(9)) }")],
  ['a method with parentheses in its name', bySource("({ 'a(b=1)'() { pass() } })['a(b=1)']")],
  ['a method with a computed name', bySource("({ [['a'].join(pass = pass)]() { pass() } }).a")],
  [
    'an arrow function that reads the arguments of another',
    bySource('(function () { return () => pass(...arguments) })()'),
  ],
]

test.each(DEAF)(
  '%s without a parameter is not called with an error: the response is 500',
  async (_what, deaf) => {
    const reached = jest.fn()
    const limit = rateLimit(failing)
    const target = await serve((req, res) => limit(req, res, deaf(() => res.end(String(reached()))) as never))
    expect(await send(target, { path: '/%' })).toMatchObject({
      status: 500,
      headers: { 'cache-control': 'no-store' },
    })
    expect(reached).not.toHaveBeenCalled()
    expect(warnings()).toEqual(['HEADGATE_ERROR_UNHEARD'])
    expect((await send(target, { path: '/a' })).status).toBe(200)
  },
)

const rejecting = () => Promise.reject(new Error('down'))

test.each<[string, object]>([
  ['account', { account: rejecting }],
  ['skip', { account: () => 'ada', skip: rejecting }],
  [
    'epoch',
    {
      name: 'login',
      account: () => 'ada',
      deviceCookie: { secret: 'a secret of 32 characters or more', epoch: rejecting },
    },
  ],
])('a login whose %s rejects stays closed', async (_what, options) => {
  const reached = jest.fn()
  const guard = loginGuard({ ...options, store: memoryStore() } as never)
  const target = await serve((req, res) => guard(req, res, () => res.end(String(reached()))))
  expect((await send(target, { method: 'POST' })).status).toBe(500)
  expect(reached).not.toHaveBeenCalled()
})

test.each<[string, (pass: Next) => Next]>([
  ['a parameter', (pass) => (error) => pass(error)],
  [
    'a rest parameter',
    (pass) =>
      (...all) =>
        pass(...all),
  ],
  [
    'a default',
    (pass) =>
      (error = undefined) =>
        pass(error),
  ],
  [
    'arguments, as those of tracing agents',
    (pass) =>
      function () {
        // biome-ignore lint/complexity/noArguments: as agents do
        pass.apply(undefined, arguments as never)
      },
  ],
  ['bind', (pass) => pass.bind(undefined)],
  ['a proxy', (pass) => new Proxy(pass, {})],
  ['AsyncResource.bind', (pass) => AsyncResource.bind(pass)],
  ['AsyncLocalStorage.bind', (pass) => AsyncLocalStorage.bind(pass)],
])('a callback with %s gets the error', async (_what, hearing) => {
  const limit = rateLimit(failing)
  const respond = (res: ServerResponse) => (error?: unknown) => {
    res.statusCode = error ? 418 : 200
    res.end()
  }
  const target = await serve((req, res) => limit(req, res, hearing(respond(res))))
  expect((await send(target, { path: '/%' })).status).toBe(418)
  expect(warnings()).toEqual([])
})

test('the drop-in does not pass on a request whose key fails to a callback without a parameter', async () => {
  const reached = jest.fn()
  const limit = dropIn({ limit: 1, validate: false, keyGenerator: rejecting })
  const target = await serve((req, res) => void limit(req as never, res as never, () => res.end(reached())))
  expect((await send(target)).status).toBe(500)
  expect(reached).not.toHaveBeenCalled()
})

const STRICT = { rejectNonStandardBodyWrites: true }

/** Servers that throw for the body of a response to HEAD. */
const STRICT_SERVERS: readonly (readonly [string, () => Server | Promise<Server>])[] = [
  [
    'node:http',
    () => {
      const limit = rateLimit({ limit: 1, window: '1m' })
      return createServer(STRICT, (req, res) => limit(req, res, () => res.end()))
    },
  ],
  [
    'Express',
    () => {
      const limit = rateLimit({ limit: 1, window: '1m' })
      return createServer(
        STRICT,
        express().use(limit as never, (_req, res) => void res.end()),
      )
    },
  ],
  [
    'Express with the drop-in',
    () => {
      const limit = dropIn({ limit: 1, validate: false })
      return createServer(
        STRICT,
        express().use(limit, (_req, res) => void res.end()),
      )
    },
  ],
  [
    'Koa',
    () => {
      const app = new Koa().use(koaLimit({ limit: 1, window: '1m' })).use((ctx) => {
        ctx.body = ''
      })
      return createServer(STRICT, app.callback())
    },
  ],
  [
    'Fastify',
    async () => {
      const app = fastify({ serverFactory: (handler) => createServer(STRICT, handler) })
      await app.register(fastifyLimit, { limit: 1, window: '1m' })
      app.route({ method: ['GET', 'HEAD'], url: '/', handler: async () => '' })
      await app.ready()
      return app.server
    },
  ],
]

test.each(STRICT_SERVERS)(
  'a denial of a HEAD request is sent where a body throws: %s',
  async (_on, start) => {
    const server = await start()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closeWithServers(async () => void server.close())
    const { port } = server.address() as AddressInfo
    expect((await send({ port }, { method: 'HEAD' })).status).toBeLessThan(300)
    const { status, text } = await send({ port }, { method: 'HEAD' })
    expect([status, text]).toEqual([429, ''])
  },
)

test('a Response of another class passes, with the quota headers', async () => {
  const limit = fetchLimit({ limit: 1, window: '1m' })
  const request = new Request('http://localhost/')
  const response = await limit.handle(
    request,
    { ip: '203.0.113.7' },
    () => new PonyResponse('hello', { status: 201 }) as never,
  )
  expect([response.status, await response.text(), response.headers.get('x-ratelimit-limit')]).toEqual([
    201,
    'hello',
    '1',
  ])
})
