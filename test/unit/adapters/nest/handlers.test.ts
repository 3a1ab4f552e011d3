import 'reflect-metadata'
import { createLimiter, fixedWindow, memoryStore } from 'headgate'
import { RateLimit, RateLimitException, RateLimiters, RateLimitGuard, SkipRateLimit } from 'headgate/nest'
import { limitedDecorations } from '../../../../src/adapters/nest/decorators.js'
import { requestAndResponse } from '../../../support/request-response.js'
import { contextOf, guarded, Other, Shop } from './contexts.js'

afterEach(() => limitedDecorations.clear())

describe('a handler', () => {
  const http = (handler: object, of: object = Shop) => {
    const { req, res } = requestAndResponse()
    return ['http', [req, res], handler, of] as never as Parameters<typeof contextOf>
  }
  const denied = expect.any(RateLimitException)

  function decorate(decorator: MethodDecorator, name: 'list' | 'buy' | 'ping'): void {
    const descriptor = Object.getOwnPropertyDescriptor(Shop.prototype, name) as PropertyDescriptor
    decorator(Shop.prototype, name, descriptor)
  }

  afterEach(() => {
    for (const target of [Shop, ...(['list', 'buy', 'ping'] as const).map((name) => Shop.prototype[name])])
      Reflect.deleteMetadata('headgate:rateLimit', target)
  })

  test('has the limiter of its decorator, or that of its class, or that of the module', async () => {
    decorate(RateLimit({ limit: 2, window: '1m' }), 'buy')
    decorate(SkipRateLimit(), 'ping')
    RateLimit({ limit: 1, window: '1m' })(Shop)
    const limiters = new RateLimiters({ limit: 3, window: '1m' })
    const guard = new RateLimitGuard(limiters)
    const outcomes = async (times: number, handler: object, of: object = Shop) => {
      const seen: unknown[] = []
      for (let i = 0; i < times; i++) seen.push(await guarded(guard, ...http(handler, of)))
      return seen.map((error) => (error === undefined ? 'allowed' : error))
    }
    const { list, buy, ping } = Shop.prototype
    expect(await outcomes(3, buy)).toEqual(['allowed', 'allowed', denied])
    expect(await outcomes(2, list)).toEqual(['allowed', denied])
    expect(await outcomes(9, ping)).toEqual(Array(9).fill('allowed'))
    expect(await outcomes(4, Other.prototype.list, Other)).toEqual(['allowed', 'allowed', 'allowed', denied])
    expect(limiters.get('Shop')).not.toBe(limiters.get('Shop.buy'))
    expect([limiters.get('Shop.ping'), limiters.get('Shop.none')]).toEqual([undefined, undefined])
    expect(limiters.default).toBeDefined()
  })

  test('of a module without an amount has no limit of its own', async () => {
    const guard = new RateLimitGuard(new RateLimiters({}))
    expect(await guarded(guard, ...http(Shop.prototype.list))).toBeUndefined()
  })

  test('of microservices passes, and is not charged', async () => {
    const guard = new RateLimitGuard(new RateLimiters({ limit: 1, window: '1m' }))
    for (let i = 0; i < 3; i++) expect(await guarded(guard, 'rpc', [{}, {}])).toBeUndefined()
  })

  test('throws what the option exception returns, with the context, and passes on other errors', async () => {
    const seen: unknown[] = []
    const broken = new Error('no database')
    const replaced = new Error('replaced')
    const exception = (thrown: unknown, context: unknown) => {
      seen.push(thrown, context)
      return replaced
    }
    const guard = new RateLimitGuard(new RateLimiters({ limit: 1, window: '1m', exception }))
    const context = contextOf(...http(Shop.prototype.list))
    await guard.canActivate(contextOf(...http(Shop.prototype.list)))
    expect(() => guard.canActivate(context)).toThrow(replaced)
    expect(seen).toEqual([denied, context])
    for (const key of [() => raise(broken), () => Promise.reject(broken)]) {
      const failing = new RateLimitGuard(
        new RateLimiters({ limit: 1, window: '1m', key: key as never, exception }),
      )
      expect(await guarded(failing, ...http(Shop.prototype.list))).toBe(broken)
    }
    expect(seen).toHaveLength(2)
  })

  function raise(error: Error): never {
    throw error
  }

  test('counts by the status of its response, where it has one', async () => {
    const limiters = new RateLimiters({ limit: 1, window: '1m', count: 'failed', key: () => 'ada' })
    const guard = new RateLimitGuard(limiters)
    const { req, res } = requestAndResponse()
    await guard.canActivate(contextOf('http', [req, res]))
    res.end()
    res.emit('finish')
    expect((await limiters.default?.peek({ ip: '192.0.2.7' }))?.remaining).toBe(1)
    const info = { fieldName: 'users', parentType: { name: 'Query' } }
    await guard.canActivate(contextOf('graphql', [{}, {}, { req: {}, res: requestAndResponse().res }, info]))
    expect((await limiters.default?.peek({ ip: '192.0.2.7' }))?.remaining).toBe(0)
  })
})

test('a decorated limiter in a store is shared by processes, by its name', async () => {
  const store = memoryStore()
  RateLimit({ policy: fixedWindow({ limit: 1, window: '1m' }), key: () => 'ada' })(Other)
  try {
    const limiters = new RateLimiters({ store, name: 'shop' })
    const { name } = limiters.get('Other') ?? {}
    expect(name).toBe('shop.Other')
    await limiters.get('Other')?.charge({ ip: '192.0.2.7' })
    const process = createLimiter({
      name: 'shop.Other',
      store,
      policy: fixedWindow({ limit: 1, window: '1m' }),
      key: () => 'ada',
    })
    expect((await process.charge({ ip: '192.0.2.7' })).allowed).toBe(false)
  } finally {
    Reflect.deleteMetadata('headgate:rateLimit', Other)
  }
})
