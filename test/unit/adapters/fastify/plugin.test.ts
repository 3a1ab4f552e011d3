import fastify, { type FastifyInstance, type RouteShorthandOptions } from 'fastify'
import { slidingWindow } from 'headgate'
import {
  byUser,
  type RateLimitPluginOptions,
  type RouteRateLimitOptions,
  rateLimit,
  responseCost,
} from 'headgate/fastify'
import { closeServers } from '../../../support/http.js'
import { ONE, start, startWith, TWO } from './applications.js'

afterEach(closeServers)

test('limits all routes together, and those with options of their own apart', async () => {
  const { statuses } = await startWith(TWO, (app) => app.get('/other', () => 'other'))
  expect(await statuses('/', '/other', '/', '/other')).toEqual([200, 200, 429, 429])
  expect(await statuses('/own', '/own')).toEqual([200, 429])
})

test.each<[string, () => Parameters<FastifyInstance['register']>[0]]>([
  ["import('headgate/fastify')", () => import('headgate/fastify')],
  ["require('headgate/fastify')", () => require('headgate/fastify')],
])('register(%s) limits the routes of the application that registers it', async (_how, load) => {
  const { statuses } = await start(async (app) => {
    app.register(load() as typeof rateLimit, ONE)
    app.register(async (child) => void child.get('/child', () => 'child'))
  })
  expect(await statuses('/child', '/child')).toEqual([200, 429])
})

test('does not limit routes with rateLimit: false', async () => {
  const { statuses } = await startWith(ONE)
  expect(await statuses('/free', '/free', '/free')).toEqual([200, 200, 200])
})

test('limits only routes with options of their own where global is false', async () => {
  const { statuses } = await startWith({ ...ONE, global: false })
  expect(await statuses('/', '/', '/own', '/own')).toEqual([200, 200, 200, 429])
})

test('limits requests that match no route, where it is global', async () => {
  const limited = await startWith(TWO)
  expect(await limited.statuses('/a', '/b', '/c')).toEqual([404, 404, 429])
  const exempt = await startWith({ ...TWO, global: false })
  expect(await exempt.statuses('/a', '/b', '/c')).toEqual([404, 404, 404])
})

test('HEAD and GET of a route share a limiter', async () => {
  const { statuses } = await startWith(TWO)
  const head = (path: string) => ({ method: 'HEAD', path })
  expect(await statuses('/own', head('/own'))).toEqual([200, 429])
  expect(await statuses('/', head('/'), head('/'))).toEqual([200, 200, 429])
})

test('two routes with the same object of options are limited apart', async () => {
  const { statuses } = await startWith(TWO, (app) => {
    const config = { rateLimit: ONE }
    app.get('/a', { config }, () => 'a')
    app.get('/b', { config }, () => 'b')
    app.post('/a', { config }, () => 'a')
  })
  const post = { path: '/a', method: 'POST' }
  expect(await statuses('/a', '/b', post, '/a', '/b', post, { path: '/a', method: 'HEAD' })).toEqual([
    ...[200, 200, 200, 429, 429, 429, 429],
  ])
})

test('a HEAD route that an application declares has a limiter of its own', async () => {
  const { statuses } = await startWith(TWO, (app) => {
    const config = { rateLimit: ONE }
    app.get('/b', { config }, () => 'b')
    app.head('/z', { config }, () => 'z')
  })
  const head = (path: string) => ({ method: 'HEAD', path })
  expect(await statuses('/b', head('/z'), head('/b'), head('/z'))).toEqual([200, 200, 429, 429])
})

describe('a route takes the options of the plugin that it does not replace', () => {
  const policy = slidingWindow({ limit: 1, window: '1m' })
  test.each<[string, RateLimitPluginOptions, RouteRateLimitOptions]>([
    ['limit and window', { limit: 1, window: '1m' }, {}],
    ['limit and window in place of a policy', { policy }, ONE],
    ['a policy in place of limit and window', TWO, { policy }],
    [
      'limits in place of a key, a cost and more',
      { ...TWO, key: () => 'all', cost: 2 },
      { limits: [{ policy }] },
    ],
    ['limit and window in place of limits', { limits: [{ policy }] }, ONE],
    ['a key', { ...ONE, key: () => undefined }, { key: () => 'all' }],
    ['what is undefined', ONE, { limit: undefined, statusCode: undefined, message: undefined } as never],
  ])('%s', async (_what, shared, own) => {
    const given = { ...shared, statusCode: 420, message: 'slow down' }
    const { get, statuses } = await startWith({ ...given, global: false }, (app) => {
      app.get('/route', { config: { rateLimit: own } }, () => 'route')
    })
    expect(await statuses('/route')).toEqual([200])
    expect(await get('/route')).toMatchObject({ status: 420, text: 'slow down' })
  })
})

describe("hook: 'preHandler' charges behind the hooks of that name", () => {
  type Authenticate = NonNullable<RouteShorthandOptions['preHandler']>
  const authenticate: Authenticate = async (request) => {
    Object.assign(request, { user: { id: request.headers['x-user'] } })
  }
  const byName = { ...ONE, key: byUser(), hook: 'preHandler' } as const

  const from = (user: string) => ({ headers: { 'x-user': user } })
  const ALTERNATING = ['a', 'b', 'a', 'b'].map(from)

  test('in a route with options, whose own hook finds the user', async () => {
    const { statuses } = await start(async (app) => {
      await app.register(rateLimit, TWO)
      app.get('/', { preHandler: authenticate, config: { rateLimit: byName } }, () => 'hello')
    })
    expect(await statuses(...ALTERNATING)).toEqual([200, 200, 429, 429])
  })

  test.each<[string, (app: FastifyInstance) => unknown]>([
    ['their own hooks', (app) => app.get('/', { preHandler: [authenticate] }, () => 'hello')],
    [
      'later hooks of the application',
      (app) => app.addHook('preHandler', authenticate).get('/', () => 'hello'),
    ],
  ])('for all routes, where %s find the user', async (_which, declare) => {
    const { statuses } = await start(async (app) => {
      await app.register(rateLimit, byName)
      declare(app)
    })
    expect(await statuses(...ALTERNATING)).toEqual([200, 200, 429, 429])
  })

  test('and covers requests that match no route, and routes that were declared before it loaded', async () => {
    const { statuses } = await start(async (app) => {
      app.get('/', () => 'hello')
      await app.register(rateLimit, { ...byName, key: byUser((request) => request.headers['x-user']) })
    })
    expect(await statuses(from('a'), from('a'))).toEqual([200, 429])
    const missing = { path: '/missing', ...from('b') }
    expect(await statuses(missing, missing)).toEqual([404, 429])
  })
})

test('a second registration on the same application says what to write', async () => {
  const app = fastify()
  await app.register(rateLimit, ONE)
  await expect(app.register(rateLimit, TWO)).rejects.toThrow(
    /already registered on this application\. For several limits, write limits/,
  )
})

test('a route with count inherits no actualCost, and the other way round', async () => {
  const { get } = await start(async (app) => {
    await app.register(rateLimit, { ...TWO, actualCost: responseCost(() => 2) })
    app.get('/', { config: { rateLimit: { count: 'failed' } } }, () => 'hello')
  })
  const left = async () => (await get('/')).headers['x-ratelimit-remaining']
  expect([await left(), await left()]).toEqual(['1', '1'])
})

test('covers what is declared on the same instance before it has loaded, or in plugins after it', async () => {
  const { statuses } = await start((app) => {
    app.register(rateLimit, TWO)
    app.get('/', () => 'before')
    app.register(async (child) => {
      child.get('/after', () => 'after')
    })
  })
  expect(await statuses('/', '/after', '/', '/after')).toEqual([200, 200, 429, 429])
})

test('a route with options of its own that was declared too early is not served', async () => {
  const { get } = await start((app) => {
    app.register(rateLimit, TWO)
    app.get('/', { config: { rateLimit: ONE } }, () => 'before')
  })
  const { status, text } = await get('/')
  expect(status).toBe(500)
  expect(JSON.parse(text).message).toMatch(/before the plugin loaded\. Write await app\.register\(rateLimit/)
})

test('has limiters of its own in each context that registers it', async () => {
  const { statuses } = await start((app) => {
    for (const prefix of ['/a', '/b'])
      app.register(
        async (child) => {
          await child.register(rateLimit, ONE)
          child.get('/', () => prefix)
        },
        { prefix },
      )
    app.get('/', () => 'not limited')
  })
  expect(await statuses('/a', '/b', '/a', '/b', '/', '/')).toEqual([200, 200, 429, 429, 200, 200])
})

test('app.rateLimiters has the limiters, which close with the application', async () => {
  const { app } = await startWith(TWO)
  const names = await Promise.all(
    app.rateLimiters.map(async (limiter) => (await limiter.peek({ ip: '192.0.2.1' } as never)).limit),
  )
  expect(names).toEqual([2, 1])
  const closed = app.rateLimiters.map((limiter) => jest.spyOn(limiter, 'close'))
  await app.close()
  expect(closed.map(({ mock }) => mock.calls.length)).toEqual([1, 1])
})

test.each<[string, object, RegExp]>([
  ['the plugin', { limits: 5 }, /^rateLimit: limits must be an array/],
  ['the plugin', { ...ONE, hook: 'onSend' }, /^rateLimit: hook must be one of 'onRequest', 'preValidation'/],
  ['the plugin', { ...ONE, ondenied: () => 1 }, /^rateLimit: there is no option "ondenied"\. Did you mean/],
  ['the plugin', { ...ONE, global: 'no' }, /^rateLimit: global must be true or false, got "no"/],
  ['the plugin', { global: false, limt: 3 }, /^rateLimit: there is no option "limt"\. Did you mean limit\?/],
  ['the plugin', { ...ONE, global: false, statusCode: 42 }, /^rateLimit: statusCode must be a whole number/],
])('%s refuses wrong options: %p', async (_whose, options, message) => {
  await expect(fastify().register(rateLimit, options)).rejects.toThrow(message)
})

test.each<[unknown, RegExp]>([
  [{ limit: 0 }, /^rateLimit of POST \/login: limit must be a whole number of at least 1, got 0/],
  [{ hook: 'preparsing' }, /^rateLimit of POST \/login: hook must be one of/],
  [true, /^rateLimit of POST \/login: config\.rateLimit must be an options object, or false, got true/],
  [null, /^rateLimit of POST \/login: config\.rateLimit must be an options object/],
])('a route with wrong options is refused: %p', async (rateLimitOfRoute, message) => {
  const app = fastify()
  await app.register(rateLimit, ONE)
  const config = { rateLimit: rateLimitOfRoute as RouteRateLimitOptions }
  expect(() => app.post('/login', { config }, () => '')).toThrow(message)
})
