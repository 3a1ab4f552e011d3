import { once } from 'node:events'
import Router from '@koa/router'
import { byField, byIp, byRoute, byUser, memoryStore } from 'headgate'
import { loginGuard, type RateLimitOptions, rateLimit } from 'headgate/koa'
import Koa, { type Middleware } from 'koa'
import { promisingStore } from '../support/fault-stores.js'
import { closeServers, type Sent, send, serve, statuses, times } from '../support/http.js'
import { recordWarnings } from '../support/warnings.js'

afterEach(closeServers)
const warnings = recordWarnings()

const sayHello: Middleware = (ctx) => {
  ctx.body = 'hello'
}

const oncePerMinute = (options: RateLimitOptions = {}) =>
  rateLimit({ limit: 1, window: '1m', store: memoryStore({ clock: () => 0 }), ...options })

async function serveKoa(...middleware: Middleware[]) {
  const app = new Koa()
  const errors: unknown[] = []
  app.on('error', (error: Error) => errors.push(error))
  for (const each of middleware) app.use(each)
  return { app, errors, served: await serve(app.callback()) }
}

const from = (...addresses: string[]): Sent[] =>
  addresses.map((address) => ({ headers: { 'x-forwarded-for': address } }))

describe('a denial is an answer of Koa', () => {
  test('which outer middleware sees', async () => {
    const seen: unknown[] = []
    const log: Middleware = async (ctx, next) => {
      await next()
      seen.push([ctx.status, ctx.type, ctx.body])
    }
    const { served } = await serveKoa(log, oncePerMinute(), sayHello)
    await statuses(served, times(2))
    const denial = 'Too many requests. Try again in 60 seconds.\n'
    expect(seen).toEqual([
      [200, 'text/plain', 'hello'],
      [429, 'text/plain', denial],
    ])
  })

  test('which outer middleware may replace', async () => {
    const page: Middleware = async (ctx, next) => {
      await next()
      if (ctx.status === 429) ctx.body = { error: 'busy' }
    }
    const { served } = await serveKoa(page, oncePerMinute(), sayHello)
    await send(served)
    const { status, headers, text } = await send(served)
    expect({ status, text }).toEqual({ status: 429, text: '{"error":"busy"}' })
    expect(headers).toMatchObject({ 'content-length': '16', 'retry-after': '60' })
  })

  test('except where the application bypasses Koa, and sends responses itself', async () => {
    const bypass: Middleware = (ctx, next) => {
      ctx.respond = false
      return next()
    }
    const { served } = await serveKoa(bypass, oncePerMinute(), (ctx) => ctx.res.end('hello'))
    expect(await statuses(served, times(2))).toEqual([404, 429]) // Koa begins with status 404
  })
})

test.each([undefined, null, 'a string', new Error('the database is down')])(
  'what a key function throws goes to the error handling of Koa: %p',
  async (thrown) => {
    const reached = jest.fn(sayHello)
    const keys = [
      () => {
        throw thrown
      },
      () => Promise.reject(thrown),
    ]
    for (const key of keys) {
      const { served, errors } = await serveKoa(oncePerMinute({ key }), reached)
      expect((await send(served)).status).toBe(500)
      expect(errors).toEqual([expect.any(Error)])
    }
    expect(reached).not.toHaveBeenCalled()
  },
)

test('what later middleware throws is refunded by its status', async () => {
  const { served, errors } = await serveKoa(oncePerMinute({ count: 'successful' }), (ctx) =>
    ctx.throw(404, 'gone'),
  )
  expect(await statuses(served, times(3))).toEqual([404, 404, 404])
  expect(errors.map(String)).toEqual(Array(3).fill('NotFoundError: gone'))
})

test('onDenied may let a request pass, by next', async () => {
  const { served } = await serveKoa(oncePerMinute({ onDenied: (_ctx, next) => next() }), sayHello)
  const [, { status, headers, text }] = [await send(served), await send(served)]
  expect({ status, text, retryAfter: headers['retry-after'] }).toEqual({
    status: 200,
    text: 'hello',
    retryAfter: undefined,
  })
})

test('onDenied may throw, with the headers that are set', async () => {
  const onDenied: RateLimitOptions['onDenied'] = (ctx) =>
    ctx.throw(429, 'slow down', { headers: { ...ctx.response.headers } })
  const { served, errors } = await serveKoa(oncePerMinute({ onDenied }), sayHello)
  const [, denied] = [await send(served), await send(served)]
  expect(denied).toMatchObject({ status: 429, text: 'slow down', headers: { 'x-ratelimit-limit': '1' } })
  expect(denied.headers['retry-after']).toBe('60')
  expect(errors).toHaveLength(1)
})

test('a response whose headers were sent before its denial is ended, and the server goes on', async () => {
  const early: Middleware = async (ctx, next) => {
    if (ctx.path === '/early') {
      ctx.status = 200
      ctx.res.write('half')
    }
    await next()
  }
  const { served } = await serveKoa(early, oncePerMinute(), sayHello)
  await send(served)
  await expect(send(served, { path: '/early' })).rejects.toThrow()
  expect(warnings()).toEqual(['HEADGATE_HEADERS_SENT'])
  expect((await send(served)).status).toBe(429)
})

describe('keys read', () => {
  test('ctx.ip, behind as many proxies as app.maxIpsCount says', async () => {
    const { app, served } = await serveKoa(oncePerMinute(), sayHello)
    Object.assign(app, { proxy: true, maxIpsCount: 1 })
    const chains = from('192.0.2.1', '198.51.100.9, 192.0.2.1', '192.0.2.2')
    expect(await statuses(served, chains)).toEqual([200, 429, 200])
    expect(warnings()).toEqual([])
  })

  test('ctx.ip, of the header that app.proxyIpHeader names', async () => {
    const { app, served } = await serveKoa(oncePerMinute(), sayHello)
    Object.assign(app, { proxy: true, proxyIpHeader: 'x-real-ip' })
    const requests = ['192.0.2.1', '192.0.2.1', '192.0.2.2'].map((ip) => ({ headers: { 'x-real-ip': ip } }))
    expect(await statuses(served, requests)).toEqual([200, 429, 200])
    expect(warnings()).toEqual([])
  })

  test('ctx.ip, with a warning where the client may write it', async () => {
    const { app, served } = await serveKoa(oncePerMinute(), sayHello)
    app.proxy = true
    expect(await statuses(served, from('192.0.2.1', '192.0.2.2'))).toEqual([200, 200])
    expect(warnings()).toEqual(['HEADGATE_TRUSTS_EVERY_PROXY'])
  })

  test('the address of the connection where no proxy is trusted, with a warning', async () => {
    const { served } = await serveKoa(oncePerMinute(), sayHello)
    expect(await statuses(served, from('192.0.2.1', '192.0.2.2'))).toEqual([200, 429])
    expect(warnings()).toEqual(['HEADGATE_UNTRUSTED_PROXY'])
  })

  test('the route of @koa/router that matched', async () => {
    const limiter = oncePerMinute({ key: [byIp(), byRoute()] })
    const users = new Router().get('/:id', limiter, sayHello).get('/:id/posts', limiter, sayHello)
    const router = new Router().use('/users', users.routes()).get(/^\/files\//, limiter, sayHello)
    const { served } = await serveKoa(router.routes() as Middleware)
    const paths = ['/users/1', '/users/2', '/users/1/posts', '/users/2/posts', '/files/a', '/files/b']
    const requests = paths.map((path) => ({ path }))
    expect(await statuses(served, requests)).toEqual([200, 429, 200, 429, 200, 429])
    expect(await statuses(served, [{ path: '/users/3', method: 'HEAD' }])).toEqual([429])
  })

  test('ctx.state.user and ctx.request.body, and not the body of the response', async () => {
    const given: Middleware = (ctx, next) => {
      ctx.state.user = { id: ctx.get('x-user') }
      Object.assign(ctx.request, { body: { username: ctx.get('x-name') } })
      ctx.body = { username: 'the same' }
      return next()
    }
    const limits = [byUser(), byField('username')].map((key) => oncePerMinute({ key }))
    const { served } = await serveKoa(given, ...limits, sayHello)
    const clients = ['a ada', 'b bob', 'a cleo', 'd bob', 'e eve'].map((client) => client.split(' '))
    const requests = clients.map(([user, name]) => ({ headers: { 'x-user': user, 'x-name': name } }))
    expect(await statuses(served, requests)).toEqual([200, 200, 429, 429, 200])
  })
})

test('all callbacks get the context, and the limiter takes it', async () => {
  const seen: unknown[] = []
  const limiter = rateLimit({
    limit: 1,
    window: '1m',
    store: promisingStore(),
    skip: (ctx, response) => seen.push(['skip', ctx.path, response.status]) === 0,
    key: (ctx) => ctx.path,
    cost: (ctx) => (ctx.path === '/two' ? 2 : 1),
    count: (ctx, response) => seen.push(['count', ctx.path, response.status]) > 0,
  })
  limiter.limiter.events.on('denied', (_decision, ctx) => seen.push(['denied', ctx.path]))
  const { app, served } = await serveKoa(limiter, async (ctx) => {
    ctx.body = String((await limiter.limiter.peek(ctx)).remaining)
  })
  expect((await send(served, { path: '/one' })).text).toBe('0')
  expect((await send(served, { path: '/two' })).status).toBe(403) // its cost is above the limit
  expect(seen).toEqual([
    ['skip', '/one', 404],
    ['skip', '/one', 404], // of the peek
    ['count', '/one', 200],
    ['skip', '/two', 404],
    ['denied', '/two'],
  ])
  expect(app.context).not.toHaveProperty('rateLimit')
})

describe('a login guard', () => {
  const login: Middleware = (ctx) => {
    if (ctx.get('x-password') !== 'right') ctx.throw(401)
    ctx.redirect(ctx.get('x-to'))
  }
  const parse: Middleware = (ctx, next) => {
    Object.assign(ctx.request, { body: { username: 'ada' } })
    return next()
  }
  const guardOf = (options: object = {}) =>
    loginGuard({ field: 'username', store: memoryStore(), consecutive: 2, ...options })
  const attempt = (password: string, to = '/home') => ({
    method: 'POST',
    headers: { 'x-password': password, 'x-to': to },
  })

  test('counts what is thrown as failed, and redirects by failureRedirect', async () => {
    const { served } = await serveKoa(parse, guardOf({ path: '/', failureRedirect: '/login' }), login)
    const attempts = [attempt('wrong'), attempt('right'), attempt('wrong'), attempt('right', '/login')]
    expect(await statuses(served, [...attempts, attempt('right')])).toEqual([401, 302, 401, 302, 429])
  })

  test('takes the report of a context', async () => {
    const guard = guardOf()
    const report: Middleware = async (ctx, next) => {
      await next()
      if (ctx.get('x-to') === '/home') guard.reportSuccess(ctx)
      else guard.reportFailure(ctx)
    }
    const { served } = await serveKoa(parse, guard, report, login)
    const requests = [attempt('right', '/login'), attempt('right'), attempt('right', '/login')]
    expect(await statuses(served, requests)).toEqual([302, 302, 302])
    const sent = [attempt('right', '/login'), attempt('right')]
    expect(await statuses(served, sent)).toEqual([302, 429])
  })

  test('emits its events with the context', async () => {
    const guard = guardOf({ name: 'login', path: '/' })
    const { served } = await serveKoa(parse, guard, login)
    const event = once(guard.events, 'security')
    await statuses(served, [attempt('wrong'), attempt('wrong')])
    const [entry, ctx] = await event
    expect([entry.event, ctx.path]).toEqual([expect.stringContaining('authn_login'), '/'])
    expect(await guard.accountId(ctx)).toBe(await guard.accountId({ body: { username: 'ada' } }))
  })
})
