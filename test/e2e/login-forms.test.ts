import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { createAdaptorServer } from '@hono/node-server'
import Router from '@koa/router'
import connect from 'connect'
import express from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import { type LoginGuardOptions, loginGuard, memoryStore } from 'headgate'
import * as ofFastify from 'headgate/fastify'
import * as ofFetch from 'headgate/fetch'
import * as ofHono from 'headgate/hono'
import * as ofKoa from 'headgate/koa'
import { Hono } from 'hono'
import Koa from 'koa'
import { recordWarnings } from '../support/warnings.js'

const warnings = recordWarnings()

type Body = string | Buffer | Readable

/** What an application responds to each attempt. */
interface Page {
  readonly body: () => Body
  readonly type?: string
  readonly status?: number
}

const options = () => ({ field: 'username', name: 'staff', path: '/login', store: memoryStore() })

async function parse(req: IncomingMessage): Promise<IncomingMessage> {
  return Object.assign(req, { body: await json(req) })
}

function respond(res: ServerResponse, { body, type = 'text/html', status = 200 }: Page): void {
  const sent = body()
  res.writeHead(status, { 'content-type': type })
  if (sent instanceof Readable) sent.pipe(res)
  else res.end(sent)
}

/** Returns the status of each of some responses of Express. */
const onExpress =
  (framework: typeof express) =>
  ({ body, type = 'text/html', status = 200 }: Page): Server => {
    const app = framework().post('/login', framework.json(), loginGuard(options()), (_req, res) => {
      const sent = body()
      res.status(status).type(type)
      if (sent instanceof Readable) sent.pipe(res)
      else res.send(sent)
    })
    return createServer(app)
  }

/** The servers of each adapter that can see bodies. */
const SERVERS: Readonly<Record<string, (page: Page) => Server | Promise<Server>>> = {
  'Express 5': onExpress(express),
  'Express 4': onExpress(express4 as unknown as typeof express),
  Connect(page) {
    const app = connect().use((req, _res, next) => void parse(req).then(() => next(), next))
    app.use('/login', loginGuard(options()))
    return createServer(app.use((_req, res) => respond(res, page)))
  },
  'node:http'(page) {
    const guard = loginGuard(options())
    return createServer(async (req, res) => guard(await parse(req), res, () => respond(res, page)))
  },
  Koa({ body, type = 'text/html', status = 200 }) {
    const router = new Router().post('/login', ofKoa.loginGuard(options()), (ctx: Koa.Context) => {
      Object.assign(ctx, { body: body(), type, status })
    })
    const app = new Koa().use(async (ctx, next) => {
      Object.assign(ctx.request, { body: await json(ctx.req) })
      await next()
    })
    return createServer(app.use(router.routes()).callback())
  },
  async Fastify({ body, type = 'text/html', status = 200 }) {
    const app = fastify()
    app.post('/login', { preHandler: ofFastify.loginGuard(options()) }, (_request, reply) => {
      void reply.code(status).type(type).send(body())
    })
    await app.ready()
    return app.server
  },
  Hono({ body, type = 'text/html', status = 200 }) {
    const app = new Hono()
    app.post('/login', ofHono.loginGuard(options()), () => {
      const sent = body()
      const content = sent instanceof Readable ? (Readable.toWeb(sent) as ReadableStream) : sent
      return new Response(content as BodyInit, { status, headers: { 'content-type': type } })
    })
    return createAdaptorServer({ fetch: app.fetch }) as Server
  },
}

/** Sends attempts to a server, and returns their bodies. */
async function attempt(server: Server, times = 1): Promise<Buffer[]> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const bodies: Buffer[] = []
  for (let i = 0; i < times; i++) {
    const response = await fetch(`http://127.0.0.1:${port}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'ada', password: 'wrong' }),
    })
    bodies.push(Buffer.from(await response.arrayBuffer()))
  }
  server.closeAllConnections()
  server.close()
  return bodies
}

const FORM = '<form method="post"><input name="username"><input type="password" name="password"></form>'
const PIECES = ['<p>Wrong password', FORM, '</p>']

const FORMS: readonly (readonly [string, () => Body])[] = [
  ['a string', () => FORM],
  ['bytes', () => Buffer.from(FORM)],
  ['a stream', () => Readable.from(PIECES.map((piece) => Buffer.from(piece)))],
]

describe.each(Object.entries(SERVERS))('on %s', (_name, start) => {
  test.each(FORMS)(
    'a login that responds 200 with its form again, as %s, gets one warning',
    async (_how, body) => {
      const [sent] = await attempt(await start({ body }), 3)
      expect(String(sent)).toContain(FORM)
      expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
      const [message] = jest.mocked(process.emitWarning).mock.calls[0] ?? []
      expect(message).toContain(
        'loginGuard "staff" counted a response as a success, but its page has a password field',
      )
    },
  )

  test.each<[string, Page]>([
    ['a page without one', { body: () => '<p>Welcome</p><input type="text">' }],
    ['a form with status 401', { body: () => FORM, status: 401 }],
    ['a form with status 202', { body: () => FORM, status: 202 }],
    [
      'JSON about a form',
      { body: () => JSON.stringify({ help: FORM, type: "type='password'" }), type: 'application/json' },
    ],
    ['a compressed page', { body: () => gzipSync(FORM) }],
  ])('%s gets no warning', async (_what, page) => {
    await attempt(await start(page))
    expect(warnings()).toEqual([])
  })
})

test.each([
  `<input type='password'>`,
  '<input type=password name=p>',
  '<INPUT TYPE="PASSWORD">',
  Buffer.from('<input type = "Password">'),
])('finds %s', async (body) => {
  await attempt(onExpress(express)({ body: () => body, type: 'text/html' }))
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})

/** Returns how many responses a guard in Express watches: those whose methods it replaces. */
async function countWatched(
  statuses: readonly number[],
  more: Partial<LoginGuardOptions<never>> = {},
): Promise<number> {
  let count = 0
  const app = express().post('/login', express.json(), loginGuard({ ...options(), ...more }), (_req, res) => {
    if (Object.hasOwn(res, 'write')) count++
    res.sendStatus(statuses[Math.min(asked++, statuses.length - 1)] as number)
  })
  let asked = 0
  await attempt(createServer(app), 80)
  return count
}

test('watches the first 50 responses, and none after a 401', async () => {
  expect(await countWatched([200])).toBe(50)
  expect(await countWatched([200, 200, 401, 200])).toBe(3)
})

test('a page with a password field after a login that the application reports gets no warning', async () => {
  const guard = loginGuard(options())
  const app = express().post('/login', express.json(), guard, (req, res) => {
    guard.reportSuccess(req)
    res.send(FORM)
  })
  await attempt(createServer(app))
  expect(warnings()).toEqual([])
})

test('headgate/fetch cannot see a body without copying it, and leaves it alone', async () => {
  const guard = ofFetch.loginGuard(options())
  const request = new Request('http://localhost/login', { method: 'POST' })
  const response = new Response(FORM, { headers: { 'content-type': 'text/html' } })
  const info = { ip: '192.0.2.1', body: { username: 'ada' } }
  expect(await (await guard.handle(request, info, () => response)).text()).toBe(FORM)
  expect(warnings()).toEqual([])
})
