import connect from 'connect'
import express from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import { createLimiter, fixedWindow } from 'headgate'
import { type Dashboard, dashboard } from 'headgate/dashboard'
import Koa from 'koa'
import { closeServers, type Served, send, serve } from '../support/http.js'
import { recordWarnings } from '../support/warnings.js'
import { MOUNTS, type Mount, ON_EXPRESS, ON_NODE_HTTP, post, SECURITY_HEADERS } from './dashboard-mounts.js'

const opened: Dashboard[] = []
const warnings = recordWarnings()
afterEach(async () => {
  for (const page of opened.splice(0)) page.close()
  await closeServers()
})

/** Creates a dashboard of one limiter. */
function pageFor(authorize: Parameters<typeof dashboard>[0]['authorize'] = () => true): Dashboard {
  const policy = fixedWindow({ limit: 5, window: '1m' })
  const limiter = createLimiter<string>({ name: 'secret-api', policy, key: (id) => id })
  const page = dashboard({ limiters: [limiter], authorize })
  opened.push(page)
  return page
}

const servedOn = (mount: Mount, ...args: Parameters<typeof pageFor>) => serve(mount.serve(pageFor(...args)))

/** Requests for everything that there is, and more. */
const EVERYTHING = [
  '',
  '/',
  '/page.css',
  '/stream',
  '/history',
  '/log',
  '/lookup',
  '/release',
  '/override',
  '/none',
  '/a/',
].flatMap((path) => ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'].map((method) => ({ method, path })))

describe('the way to the page', () => {
  const mounted: readonly (readonly [string, string, () => Parameters<typeof serve>[0]])[] = [
    ['Express 5', '/limits', () => express().use('/limits', pageFor())],
    ['Express 4', '/limits', () => express4().use('/limits', pageFor())],
    ['Connect', '/limits', () => connect().use('/limits', pageFor())],
    [
      'nested routers',
      '/a/b/limits',
      () => express().use('/a', express.Router().use('/b/limits', pageFor())),
    ],
    ['node:http', '/limits', () => ON_NODE_HTTP.serve(pageFor())],
    ['node:http, deeper', '/a/limits', () => ON_NODE_HTTP.serve(pageFor())],
  ]

  test.each(mounted)('leads to the slash at its end, on %s', async (_, path, listener) => {
    const served = await serve(listener())
    for (const sent of [path, `${path}?a=b/c`]) {
      const { status, headers } = await send(served, { path: sent })
      expect(status).toBe(308)
      expect(headers).toMatchObject(SECURITY_HEADERS)
      const { pathname } = new URL(headers.location as string, `http://localhost${sent}`)
      expect(pathname).toBe(`${path}/`)
      expect(await send(served, { path: pathname })).toMatchObject({ status: 200 })
    }
    expect(await send(served, { path: `${path}/?a=b` })).toMatchObject({ status: 200 })
  })

  test('is a hook before the body is parsed, on Fastify', async () => {
    const page = pageFor()
    const fastify = Fastify()
    fastify.addHook('onRequest', (req, reply, done) => {
      if (!req.url.startsWith('/limits/')) return done()
      reply.hijack()
      page(req.raw, reply.raw)
    })
    fastify.get('/', async () => 'hello')
    await fastify.ready()
    await expectPageIn(await serve((req, res) => fastify.routing(req, res)))
  })

  test('is a middleware before a body parser, on Koa', async () => {
    const page = pageFor()
    const koa = new Koa()
    koa.use((ctx, next) => {
      if (!ctx.path.startsWith('/limits/')) return next()
      ctx.respond = false
      page(ctx.req, ctx.res)
    })
    koa.use((ctx) => {
      ctx.body = 'hello'
    })
    await expectPageIn(await serve(koa.callback()))
  })

  /** Checks that an application serves the page and its actions at `/limits/`, and its own response at `/`. */
  async function expectPageIn(served: Served): Promise<void> {
    const { status, text } = await send(served, { path: '/limits/' })
    expect([status, text]).toEqual([200, expect.stringContaining('<title>Rate limits</title>')])
    const released = { limiter: 'secret-api', targets: [{ identity: 'ada' }], by: 'ines', reason: 'ticket 7' }
    const action = await post(served, '/limits/release', released)
    expect(action.status).toBe(200)
    expect(await send(served, { path: '/' })).toMatchObject({ status: 200, text: 'hello' })
  }

  test('cannot lead to another host', async () => {
    const served = await serve(express().use(pageFor()))
    for (const path of ['//evil.example', '/\\evil.example', '//evil.example/..']) {
      const { status, headers } = await send(served, { path })
      if (status === 308)
        expect(new URL(headers.location as string, 'http://localhost/').host).toBe('localhost')
      else expect(status).toBe(404)
    }
  })
})

describe.each(MOUNTS)('$name', (mount) => {
  test.each([
    ['/', 'text/html; charset=utf-8', '<title>Rate limits</title>'],
    ['/page.css', 'text/css; charset=utf-8', ':root {'],
    ['/main.js', 'text/javascript; charset=utf-8', "from './model.js'"],
    ['/overview.css', 'text/css; charset=utf-8', '.overview {'],
    ['/icon.svg', 'image/svg+xml', '<svg'],
  ])('serves %s, and to HEAD its headers', async (name, type, content) => {
    const served = await servedOn(mount)
    const path = mount.path + name
    const { status, headers, text } = await send(served, { path })
    expect(status).toBe(200)
    expect(headers).toMatchObject({ ...SECURITY_HEADERS, 'content-type': type })
    expect(text).toContain(content)
    const head = await send(served, { path, method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(text)))
  })

  test('answers 403 and nothing else to all requests of those who may not see it', async () => {
    const served = await servedOn(mount, () => false)
    for (const { method, path } of EVERYTHING) {
      const { status, headers, text } = await send(served, { method, path: mount.path + path })
      expect([method, path, status]).toEqual([method, path, 403])
      expect(text).toBe(method === 'HEAD' ? '' : '{"error":"You are not allowed to see this page."}')
      expect(headers).toMatchObject(SECURITY_HEADERS)
      expect(headers).not.toHaveProperty('location')
    }
  })

  test.each([
    ['undefined', undefined],
    ['1', 1],
    ['a text', 'yes'],
    ['an object', {}],
    ['a function', () => true],
    ['a promise of 1', Promise.resolve(1)],
    ['a promise of false', Promise.resolve(false)],
  ])('refuses whom authorize answers %s', async (_, answer) => {
    const served = await servedOn(mount, () => answer as boolean)
    expect(await send(served, { path: `${mount.path}/` })).toMatchObject({ status: 403 })
  })

  test('lets in whom authorize promises true', async () => {
    const served = await servedOn(mount, async () => true)
    expect(await send(served, { path: `${mount.path}/` })).toMatchObject({ status: 200 })
  })

  test('leaves the answer to authorize where it gives one', async () => {
    const served = await servedOn(mount, (_req, res) => {
      res.writeHead(401, { 'WWW-Authenticate': 'Basic' }).end('log in')
      return true
    })
    for (const { method, path } of EVERYTHING) {
      const { status, headers, text } = await send(served, { method, path: mount.path + path })
      expect([method, path, status]).toEqual([method, path, 401])
      expect(text).toBe(method === 'HEAD' ? '' : 'log in')
      expect(headers).toMatchObject({ ...SECURITY_HEADERS, 'www-authenticate': 'Basic' })
    }
  })

  test.each([
    ['throws', () => raise()],
    ['rejects', async () => raise()],
  ])('answers 500 where authorize %s, and shows nothing', async (_, authorize) => {
    jest.spyOn(console, 'error').mockImplementation(() => undefined) // Express prints it
    const served = await servedOn(mount, authorize)
    for (const { method, path } of EVERYTHING) {
      const { status, text } = await send(served, { method, path: mount.path + path })
      expect([method, path, status]).toEqual([method, path, 500])
      expect(text).not.toContain('secret-api')
    }
    if (mount === ON_NODE_HTTP) expect(warnings()).toEqual(['HEADGATE_DASHBOARD_FAILED'])
  })

  test.each([
    '/..%2fpackage.json',
    '/%2e%2e%2fpackage.json',
    '/../../package.json',
    '/..\\package.json',
    '/page.css%00',
    '/page.css/..%2f',
    '/page%2ecss',
    '/.',
    '/..',
    '/none.css',
  ])('has no page at %s', async (path) => {
    const served = await servedOn(mount)
    const { status, headers, text } = await send(served, { path: mount.path + path })
    expect([status, text]).toEqual([404, '{"error":"There is no such page."}'])
    expect(headers).toMatchObject(SECURITY_HEADERS)
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('has no file %s', async (name) => {
    const served = await servedOn(mount)
    const { status, text } = await send(served, { path: `${mount.path}/${name}` })
    expect(text).not.toContain('native code')
    expect(status).toBe(mount === ON_EXPRESS ? 404 : 308) // alone, it may be the folder of the page
    expect(await send(served, { path: `${mount.path}/${name}`, method: 'POST' })).toMatchObject({
      status: 405,
    })
  })

  test('answers 405 to other methods, with those that there are', async () => {
    const served = await servedOn(mount)
    const refused: [method: string, path: string, allow: string][] = [
      ...['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'].flatMap((method): [string, string, string][] => [
        [method, '/', 'GET, HEAD'],
        [method, '/page.css', 'GET, HEAD'],
        [method, '/stream', 'GET'],
      ]),
      ['HEAD', '/stream', 'GET'],
      ...['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'].flatMap((method) =>
        ['/lookup', '/release', '/override'].map((path): [string, string, string] => [method, path, 'POST']),
      ),
    ]
    for (const [method, path, allow] of refused) {
      const { status, headers } = await send(served, { method, path: mount.path + path })
      expect([method, path, status, headers.allow]).toEqual([method, path, 405, allow])
      expect(headers).toMatchObject(SECURITY_HEADERS)
    }
  })
})

test('where next is given, what authorize throws is passed on', async () => {
  const app = express().use(pageFor(() => raise()))
  app.use((error: Error, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
    res.status(502).send(error.message)
  })
  const served: Served = await serve(app)
  expect(await send(served)).toMatchObject({ status: 502, text: 'no database' })
})

function raise(): never {
  throw new Error('no database')
}
