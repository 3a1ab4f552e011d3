import 'reflect-metadata'
import { byIp, byRoute, concurrency, memoryStore, type Policy, requestDelay, tokenBucket } from 'headgate'
import { RateLimit, RateLimiters, RateLimitGuard, SkipRateLimit } from 'headgate/nest'
import { callOf } from '../../../src/adapters/nest/call.js'
import { limitedDecorations } from '../../../src/adapters/nest/decorators.js'
import { RateLimitException } from '../../../src/adapters/nest/exception.js'
import { optionsOf } from '../../../src/adapters/nest/options.js'

const WARNING = 'HEADGATE_NEST_OPTIONS'

afterEach(() => limitedDecorations.clear())

const contextOf = (type: string, ...args: unknown[]) => ({
  getType: <T extends string>() => type as T,
  getArgs: <T extends unknown[]>() => args as T,
  getClass: () => Object,
  getHandler: () => Object,
})

describe('the options of a decorated handler', () => {
  const store = memoryStore()
  const policy: Policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
  const decorated = (options: object) => ({ name: 'Auth.login', options })
  const shared = { limit: 100, window: '1m', key: () => 'ada', cost: 2, prefix: 'app' } as const

  test.each([
    ['leave all to the module', {}, { ...shared }],
    ['replace the whole amount', { policy }, { policy, key: shared.key, cost: 2, prefix: 'app' }],
    [
      'replace what stands in each of limits',
      { limits: [{ policy }] },
      { limits: [{ policy }], prefix: 'app' },
    ],
  ])('%s', (_what, own, expected) => {
    expect(optionsOf(decorated(own), shared)).toEqual(expected)
  })

  test.each([
    ['after the class and the method', {}, {}, 'Auth.login'],
    ['after the module, too', {}, { name: 'shop' }, 'shop.Auth.login'],
    ['as they say', { name: 'login' }, { name: 'shop' }, 'login'],
  ])('name a limiter in a store %s', (_what, own, module, name) => {
    expect(optionsOf(decorated(own), { store, ...module }).name).toBe(name)
  })

  test('leave the delay of the module, whose numbers are units of another amount', () => {
    const module = { ...shared, delay: requestDelay({ after: 50, by: '1s' }) } as const
    expect(optionsOf(decorated({ limit: 5, window: '1m' }), module)).not.toHaveProperty('delay')
    expect(optionsOf(decorated({ cost: 3 }), module)).toMatchObject({ delay: module.delay, cost: 3 })
  })

  test('name a limiter by what keys and headers can hold, and no other alike', () => {
    const long = 'x'.repeat(80)
    const texts = [`A.${long}`, `B.${long}`, `$${long}.$login`, 'A.$b', 'A.é', 'A.ü', '$.$', '']
    const names = texts.map((name) => optionsOf({ name, options: {} }, { store }).name)
    for (const name of names) expect(name).toMatch(/^[A-Za-z\d][\w.-]{0,63}$/)
    expect(new Set(names).size).toBe(texts.length)
  })
})

describe('wrong options', () => {
  test.each([
    ['of the module', { limit: 5 }, /RateLimitModule: .*window/],
    ['of the module: onDenied', { limit: 5, window: '1m', onDenied: () => undefined }, /Write exception/],
    ['of express-rate-limit', { max: 2, windowMs: 60_000 }, /no option "max".*limit/s],
    ['of @nestjs/throttler', { throttlers: [{ ttl: 60_000, limit: 2 }] }, /no option "throttlers"/],
    ['in an array', [{ ttl: 60_000, limit: 2 }], /RateLimitModule: options must be an object, got an array/],
    ['that are misspelled', { lmit: 2 }, /no option "lmit". Did you mean limit\?/],
    ['of a wrong type, without an amount', { key: 5 }, /RateLimitModule: key must be/],
    ['that are left out', undefined, /RateLimitModule: options must be an object, got undefined/],
    ['that say otherwise than yes or no', { global: 'no' }, /global must be true or false, got "no"/],
  ])('%s throw when the application starts', (_what, options, message) => {
    expect(() => new RateLimiters(options as object)).toThrow(message)
  })

  test('without an amount are those of the handlers', () => {
    expect(
      new RateLimiters({ count: 'failed', delay: requestDelay({ after: 5, by: '1s' }) }).default,
    ).toBeUndefined()
  })

  test('of a decorator throw when the application starts', () => {
    class Auth {
      login(): void {}
    }
    const login = Object.getOwnPropertyDescriptor(Auth.prototype, 'login') as PropertyDescriptor
    // @ts-expect-error: a limit needs a window, and so says TypeScript
    RateLimit({ limit: 5 })(Auth.prototype, 'login', login)
    expect(() => new RateLimiters({})).toThrow(/RateLimit of Auth\.login: .*window/)
  })
})

describe('decorators', () => {
  class Auth {
    login(): void {}
  }
  const login = Object.getOwnPropertyDescriptor(Auth.prototype, 'login') as PropertyDescriptor
  afterEach(() => Reflect.deleteMetadata('headgate:rateLimit', Auth.prototype.login))

  test.each([
    ['two limits', RateLimit({ limit: 5, window: '1m' })],
    ['a limit and none', SkipRateLimit()],
  ])('of a handler are not %s', (_what, upper) => {
    RateLimit({ limit: 1, window: '1h' })(Auth.prototype, 'login', login)
    const message =
      'RateLimit of Auth.login: a class or handler can have only one @RateLimit(…) or @SkipRateLimit()'
    expect(() => upper(Auth.prototype, 'login', login)).toThrow(`${message}. For several limits, use limits.`)
  })

  test('of another application may need the options of its module', () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue()
    RateLimit({ count: 'failed' })(Auth.prototype, 'login', login)
    const limiters = new RateLimiters({})
    const call = { ...contextOf('ws', {}, {}, 'login'), getHandler: () => Auth.prototype.login }
    expect(() => limiters.limitFor(call)).toThrow(/RateLimit of Auth\.login: .*limit/)
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^RateLimit of Auth\.login: /), expect.objectContaining({ code: WARNING })],
    ])
    warn.mockRestore()
    expect(new RateLimiters({ limit: 5, window: '1m' }).get('Auth.login')).toBeDefined()
  })
})

describe('a call', () => {
  const info = { fieldName: 'users', parentType: { name: 'Query' } }
  const res = { setHeader: () => undefined }

  test.each([
    ['req and res, as in Apollo Server', { req: { ip: '192.0.2.1' }, res }],
    ['a request that knows its response', { req: { ip: '192.0.2.1', res } }],
    ['a reply of Fastify', { reply: { request: { ip: '192.0.2.1' }, raw: res } }],
  ])('of GraphQL is read from a context with %s', (_what, context) => {
    const call = callOf(contextOf('graphql', {}, { id: 7 }, context, info))
    expect(call?.req).toMatchObject({ ip: '192.0.2.1', body: { id: 7 }, route: { path: 'Query.users' } })
    expect(call?.res).toBeDefined()
  })

  test('of a subscription over graphql-ws has the address and the headers of its connection', () => {
    const request = { socket: { remoteAddress: '192.0.2.1' }, headers: { 'x-api-key': 'ada' } }
    const connection = { connectionInitReceived: true, subscriptions: {}, extra: { request } }
    const inReq = callOf(contextOf('graphql', {}, {}, { req: connection }, info))
    const alone = callOf(contextOf('graphql', {}, {}, connection, info))
    expect([inReq?.req, alone?.req].map((req) => byIp()(req as object))).toEqual(['192.0.2.1', '192.0.2.1'])
    expect(inReq?.req).toMatchObject({ headers: request.headers })
    Object.assign(inReq?.req ?? {}, { rateLimit: 'a decision' })
    expect(connection).toHaveProperty('rateLimit', 'a decision')
  })

  test('of GraphQL for a field of an object is not limited by the module', () => {
    const limiters = new RateLimiters({ limit: 5, window: '1m' })
    const limitAt = (path: object) => limiters.limitFor(contextOf('graphql', {}, {}, {}, { ...info, path }))
    expect(limitAt({ key: 'users' })).toBeDefined()
    expect(limitAt({ key: 'name', prev: { key: 'users' } })).toBeUndefined()
  })

  test('of GraphQL for a federated reference has its request', () => {
    const context = contextOf('graphql', { id: 7 }, { req: { ip: '192.0.2.1' } }, info)
    expect(callOf(context)?.req).toMatchObject({ ip: '192.0.2.1', body: { id: 7 } })
  })

  test('of GraphQL is of the same route by GET and by POST', () => {
    const routes = ['GET', 'POST'].map((method) => {
      const call = callOf(contextOf('graphql', {}, {}, { req: { method } }, info))
      return byRoute()(call?.req)
    })
    expect(routes).toEqual([' Query.users', ' Query.users'])
  })

  test('of Socket.IO has the headers, the address and the user of its connection', () => {
    const request = { headers: { 'x-forwarded-for': '192.0.2.1' }, socket: { remoteAddress: '192.0.2.9' } }
    const client = { request, data: { user: { id: 'ada' } } }
    const call = callOf(contextOf('ws', client, { text: 'hi' }, 'chat'))
    expect(call?.req).toMatchObject({ ...request, user: { id: 'ada' }, body: { text: 'hi' } })
    expect(call?.res).toBeUndefined()
  })

  test('is one for all guards in front of a handler', () => {
    const context = contextOf('ws', {}, {}, 'chat')
    expect(callOf(context)).toBe(callOf(context))
    expect(callOf(context)).not.toBe(callOf(contextOf('ws', {}, {}, 'chat')))
  })

  test('of a microservice is none', () => {
    expect(callOf(contextOf('rpc', {}, {}))).toBeUndefined()
  })
})

describe('a message, which has no response,', () => {
  const message = () => contextOf('ws', { _socket: { remoteAddress: '192.0.2.1' } }, {}, 'chat')

  test('passes after its delay', async () => {
    const guard = new RateLimitGuard(
      new RateLimiters({ limit: 5, window: '1m', delay: requestDelay({ after: 0, by: '20ms' }) }),
    )
    const startMs = performance.now()
    expect(await guard.canActivate(message())).toBe(true)
    expect(performance.now() - startMs).toBeGreaterThan(18)
  })

  test('never holds a unit of concurrency', async () => {
    const policy = concurrency({ limit: 1, ttl: '1m' })
    const guard = new RateLimitGuard(new RateLimiters({ policy }))
    expect([await guard.canActivate(message()), await guard.canActivate(message())]).toEqual([true, true])
  })
})

test('@SkipRateLimit takes no argument: it skips all limits', () => {
  const skip: (...given: readonly unknown[]) => unknown = SkipRateLimit
  expect(() => skip({ short: true })).toThrow(
    'SkipRateLimit: it takes no arguments, and skips all limits. To skip only some, write',
  )
})

describe('the option exception', () => {
  const replaced = new Error('replaced')

  test.each([
    ['may be async', async () => replaced, replaced],
    ['may return nothing', () => undefined, expect.any(RateLimitException)],
    ['may resolve with nothing', async () => undefined, expect.any(RateLimitException)],
    [
      'has to return an exception',
      () => ({ code: 'X' }),
      expect.objectContaining({ message: expect.stringContaining('Return new HttpException(body, 429)') }),
    ],
  ])('%s', async (_what, exception, expected) => {
    const guard = new RateLimitGuard(new RateLimiters({ limit: 1, window: '1m', exception }))
    const message = () => contextOf('ws', { _socket: { remoteAddress: '192.0.2.1' } }, {}, 'chat')
    expect(await guard.canActivate(message())).toBe(true)
    await expect((async () => guard.canActivate(message()))()).rejects.toEqual(expected)
  })
})

test('an exception of another copy of the package is one for filters', async () => {
  await jest.isolateModulesAsync(async () => {
    const copy = await import('../../../src/adapters/nest/exception.js')
    const exception = new copy.RateLimitException({ status: 429, headers: [], contentType: '', body: '' })
    expect(copy.RateLimitException).not.toBe(RateLimitException)
    expect(exception).toBeInstanceOf(RateLimitException)
  })
  expect([new Error('other'), null, 'text'].some((value) => value instanceof RateLimitException)).toBe(false)
})

test('an exception has a name for clients, and no time to wait where waiting does not help', () => {
  const denial = { status: 403, headers: [], contentType: 'text/plain', body: 'Forbidden.\n' }
  const { extensions, message } = new RateLimitException(denial, {
    retryAfterMs: Number.POSITIVE_INFINITY,
    parts: [],
  })
  expect({ extensions, message }).toEqual({ extensions: { code: 'FORBIDDEN' }, message: 'Forbidden' })
})
