import type { IncomingMessage } from 'node:http'
import type { Request, Response } from 'express'
import { type Store as HeadgateStore, memoryStore } from 'headgate'
import { type GivenOptions, ipKeyGenerator, MemoryStore, rateLimit } from 'headgate/express-rate-limit'
import { customStore } from 'headgate/store'
import { MemoryCounter } from '../../../../src/adapters/express-rate-limit/hit-counter.js'
import { requestAndResponse } from '../../../support/request-response.js'

const silent = { error: () => undefined, warn: () => undefined }

/** What a request was answered with, or passed on with. */
interface Answered {
  readonly passed: boolean
  readonly error: unknown
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
  readonly req: Readonly<Record<string, unknown>>
}

type Middleware = ReturnType<typeof rateLimit>

/**
 * Sends a request of an application of Express through middleware, and waits until it is answered or passed
 * on.
 */
function send(limit: Middleware, own: object = {}): Promise<Answered> {
  const { req, res } = requestAndResponse()
  const app = { get: () => false }
  Object.assign(req as IncomingMessage, { app, ip: '192.0.2.1', ...own })
  return new Promise((resolve) => {
    const answer = (passed: boolean, error?: unknown, body?: unknown) =>
      resolve({
        passed,
        error,
        status: res.statusCode,
        headers: res.getHeaders(),
        body,
        req: req as unknown as Record<string, unknown>,
      })
    Object.assign(res, {
      status: (code: number) => Object.assign(res, { statusCode: code }),
      send: (body: unknown) => answer(false, undefined, body),
    })
    void limit(req as never, res as never, (error?: unknown) => answer(true, error))
  })
}

const made = (options: GivenOptions = {}) => rateLimit({ logger: silent, validate: false, ...options })

/** Sends several requests. Returns the last answer. */
async function sendAll(limit: Middleware, times: number, own?: object): Promise<Answered> {
  let last = await send(limit, own)
  for (let i = 1; i < times; i++) last = await send(limit, own)
  return last
}

describe('headers', () => {
  const counted = { limit: 3, windowMs: 90_500 }

  test.each<[string, GivenOptions, string[]]>([
    ['the default', {}, ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']],
    ['none', { legacyHeaders: false }, []],
    ['none, by the older name', { headers: false }, []],
    [
      'draft 6',
      { legacyHeaders: false, standardHeaders: true },
      ['ratelimit-policy', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
    ],
    ['draft 7', { legacyHeaders: false, standardHeaders: 'draft-7' }, ['ratelimit-policy', 'ratelimit']],
    ['draft 8', { legacyHeaders: false, standardHeaders: 'draft-8' }, ['ratelimit', 'ratelimit-policy']],
    ['a draft that does not exist', { legacyHeaders: false, standardHeaders: 'draft-9' as never }, []],
  ])('%s', async (_, options, names) => {
    const { headers, passed } = await send(made({ ...counted, ...options }))
    expect([passed, Object.keys(headers)]).toEqual([true, names])
  })

  test('say the limit, what is left, and when the window ends', async () => {
    const draft = async (standardHeaders: 'draft-6' | 'draft-7' | 'draft-8', own: GivenOptions = {}) =>
      (await send(made({ ...counted, standardHeaders, ...own }))).headers
    expect(await draft('draft-6')).toMatchObject({
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '2',
      'ratelimit-policy': '3;w=91',
      'ratelimit-limit': '3',
      'ratelimit-remaining': '2',
      'ratelimit-reset': '91',
    })
    expect(await draft('draft-7')).toMatchObject({ ratelimit: 'limit=3, remaining=2, reset=91' })
    expect(await draft('draft-8', { identifier: 'api' })).toMatchObject({
      ratelimit: '"api"; r=2; t=91',
      'ratelimit-policy': expect.stringMatching(/^"api"; q=3; w=91; pk=:[\w+/]{16}:$/),
    })
  })

  test.each([
    [1000, '3-in-1sec'],
    [30_000, '3-in-30sec'],
    [120_000, '3-in-2min'],
    [3_600_000, '3-in-1hr'],
    [7_200_000, '3-in-2hrs'],
    [2 * 86_400_000, '3-in-2days'],
    [500, '3-in-0.5sec'],
  ])('name a window of %i ms %s', async (windowMs, name) => {
    const { headers } = await send(made({ limit: 3, windowMs, standardHeaders: 'draft-8' }))
    expect(headers.ratelimit).toContain(`"${name}"`)
  })

  test('of two limiters in draft 8 are two, and in draft 7 those of the last', async () => {
    const twice = async (standardHeaders: 'draft-7' | 'draft-8') => {
      const first = made({ limit: 3, standardHeaders, identifier: 'a' })
      const second = made({ limit: 2, standardHeaders, identifier: 'b' })
      const both = ((req: never, res: never, next: (error?: unknown) => void) =>
        first(req, res, (error) => (error ? next(error) : second(req, res, next)))) as Middleware
      return (await send(both)).headers.ratelimit
    }
    expect(await twice('draft-8')).toEqual([expect.stringContaining('"a"'), expect.stringContaining('"b"')])
    expect(await twice('draft-7')).toMatch(/^limit=2/)
  })

  test('of a store that gives no time say the whole window, and no X-RateLimit-Reset', async () => {
    const store = { increment: () => ({ totalHits: 9 }), decrement() {}, resetKey() {} }
    const { headers } = await send(made({ ...counted, store: store as never, standardHeaders: 'draft-7' }))
    expect(headers).toMatchObject({ ratelimit: 'limit=3, remaining=0, reset=91', 'retry-after': '91' })
    expect(headers).not.toHaveProperty('x-ratelimit-reset')
  })
})

describe('a denied request', () => {
  test.each<[string, GivenOptions, number, unknown]>([
    ['by default', {}, 429, 'Too many requests, please try again later.'],
    ['with a status', { statusCode: 420 }, 420, 'Too many requests, please try again later.'],
    ['with an object', { message: { error: 'slow down' } }, 429, { error: 'slow down' }],
    ['with a function', { message: async () => 'slow down' }, 429, 'slow down'],
  ])('is answered %s', async (_, options, status, body) => {
    const limit = made({ limit: 2, ...options })
    expect(await sendAll(limit, 2)).toMatchObject({ passed: true })
    const denied = await send(limit)
    expect(denied).toMatchObject({ passed: false, status, body })
    expect(denied.headers['retry-after']).toBe('60')
  })

  test.each<[string, GivenOptions, unknown]>([
    ['what an option says', { retryAfter: 7 }, '7'],
    ['what a function returns', { retryAfter: async () => 8 }, '8'],
    ['the end of the window for nothing', { retryAfter: () => undefined as never }, '60'],
    ['nothing without headers', { legacyHeaders: false }, undefined],
    ['the end of the window with drafts alone', { legacyHeaders: false, standardHeaders: true }, '60'],
  ])('has Retry-After with %s', async (_, options, expected) => {
    expect((await sendAll(made({ limit: 1, ...options }), 2)).headers['retry-after']).toBe(expected)
  })

  test('that a message function has answered is not answered again', async () => {
    const bodies: unknown[] = []
    const limit = made({
      limit: 1,
      message: (_req: Request, res: Response) => {
        bodies.push('own')
        res.send('own')
        Object.defineProperty(res, 'writableEnded', { value: true })
        return 'again'
      },
    })
    expect((await sendAll(limit, 2)).body).toBe('own')
    expect(bodies).toEqual(['own'])
  })
})

describe('a request', () => {
  test('that is skipped is not counted, though skip is async', async () => {
    const limit = made({ limit: 1, skip: async (req) => req.ip === '192.0.2.7' })
    const skipped = await sendAll(limit, 3, { ip: '192.0.2.7' })
    expect([skipped.passed, skipped.headers]).toEqual([true, {}])
    expect((await sendAll(limit, 2)).passed).toBe(false)
  })

  test('carries its figures under the name that the options give', async () => {
    const own = await send(made({ limit: 3, requestPropertyName: 'quota' }))
    expect(own.req.quota).toMatchObject({ limit: 3, used: 1, remaining: 2, key: '192.0.2.1' })
    expect(own.req).not.toHaveProperty('rateLimit')
    const { rateLimit: info } = (await send(made({ limit: 3 }))).req as { rateLimit: { current: number } }
    expect([Object.keys(info), info.current]).toEqual([['limit', 'used', 'remaining', 'resetTime', 'key'], 1])
  })

  test.each<[string, GivenOptions['ipv6Subnet'], string]>([
    ['2001:db8:7:9::1', undefined, '2001:db8:7::/56'],
    ['2001:db8:7:9::1', 64, '2001:db8:7:9::/64'],
    ['2001:db8:7:9::1', false, '2001:db8:7:9::1'],
    ['2001:db8:7:9::1', () => 48, '2001:db8:7::/48'],
    ['2001:db8:7:9::1', async () => 48, '2001:db8:7::/48'],
    ['192.0.2.1', () => 48, '192.0.2.1'],
    ['::ffff:192.0.2.1', undefined, '192.0.2.1'],
  ])('of %s, with ipv6Subnet %s, counts for %s', async (ip, ipv6Subnet, key) => {
    const { req } = await send(made({ ...(ipv6Subnet !== undefined && { ipv6Subnet }) }), { ip })
    expect(req.rateLimit).toMatchObject({ key })
  })

  test('fails with the error of a function, and of a limit that is no number', async () => {
    const broken = new Error('no database')
    const rejects = () => Promise.reject(broken)
    for (const options of [{ keyGenerator: rejects }, { limit: rejects }, { skip: rejects }])
      expect((await send(made(options as GivenOptions))).error).toBe(broken)
    expect((await send(made({ limit: () => Number.NaN }))).error).toEqual(
      new TypeError('rateLimit: limit must be a number, or a function that returns one, got NaN.'),
    )
  })
})

describe('a store that fails', () => {
  const broken = new Error('connection lost')
  const store = { increment: () => Promise.reject(broken), decrement() {}, resetKey() {} } as never

  test('goes to next, or lets the request pass uncounted', async () => {
    const logged: unknown[] = []
    const logger = { error: (...args: unknown[]) => logged.push(args), warn: () => undefined }
    expect((await send(made({ store }))).error).toBe(broken)
    const { error, headers } = await send(made({ store, passOnStoreError: true, logger }))
    expect([error, headers]).toEqual([undefined, {}])
    expect(logged).toEqual([[broken, 'rateLimit: the store failed, so this request passes uncounted.']])
  })

  test('to initialize is logged, whether it throws or rejects', async () => {
    for (const init of [() => Promise.reject(broken), () => raise(broken)]) {
      const logged: unknown[] = []
      made({
        store: { increment() {}, decrement() {}, resetKey() {}, init } as never,
        logger: { error: (...args: unknown[]) => logged.push(args), warn: () => undefined },
      })
      await new Promise((resolve) => setImmediate(resolve))
      expect(logged).toEqual([[broken, 'rateLimit: the store failed to initialize.']])
    }
  })

  function raise(error: Error): never {
    throw error
  }

  test.each([
    ['a method that is missing', { increment() {}, decrement() {} }],
    ['no method but init', { increment() {}, decrement() {}, resetKey() {}, init: true }],
    ['resetAll that is none', { increment() {}, decrement() {}, resetKey() {}, resetAll: 1 }],
    ['no object', 7],
  ])('at once has %s', (_, wrong) => {
    expect(() => made({ store: wrong as never })).toThrow(
      /^rateLimit: store must be a store of express-rate-limit or of headgate, got (an object|a number|7)\./,
    )
  })

  test('without get has no getKey', () => {
    expect(() => made({ store }).getKey('ada')).toThrow(
      'rateLimit: getKey requires a store with a get method, which this store does not have.',
    )
  })
})

test('a store with callbacks counts, refunds and resets', async () => {
  const calls: unknown[] = []
  const legacy = {
    incr: (key: string, done: (error: unknown, hits: number, reset: Date) => void) => {
      calls.push(['incr', key])
      if (key === 'broken') done(new Error('connection lost'), 0, new Date())
      else done(undefined, 2, new Date(Date.now() + 30_000))
    },
    decrement: (key: string) => calls.push(['decrement', key]),
    resetKey: (key: string) => calls.push(['resetKey', key]),
    resetAll: () => calls.push(['resetAll']),
  }
  const limit = made({ store: legacy as never, limit: 1, keyGenerator: (req) => String(req.ip) })
  expect(await send(limit)).toMatchObject({ passed: false, headers: { 'retry-after': '30' } })
  expect((await send(limit, { ip: 'broken' })).error).toEqual(new Error('connection lost'))
  await limit.resetKey('ada')
  expect(calls).toEqual([
    ['incr', '192.0.2.1'],
    ['incr', 'broken'],
    ['resetKey', 'ada'],
  ])
})

describe('a counter', () => {
  test.each<[string, () => GivenOptions]>([
    ['of the default', () => ({})],
    ['of a MemoryStore', () => ({ store: new MemoryStore() })],
    ['of a headgate store', () => ({ store: memoryStore() })],
    ['of a remote one', () => ({ store: remote(), identifier: 'api' })],
  ])('%s counts each key, and forgets it', async (_, options) => {
    const limit = made({ limit: 2, keyGenerator: (req) => String(req.ip), ...options() })
    expect(await limit.getKey('ada')).toBeUndefined()
    expect((await sendAll(limit, 3, { ip: 'ada' })).passed).toBe(false)
    expect(await limit.getKey('ada')).toMatchObject({ totalHits: 3 })
    const { resetTime } = (await limit.getKey('ada')) as { resetTime: Date }
    expect(resetTime.getTime() - Date.now()).toBeGreaterThan(50_000)
    expect(await limit.getKey('bob')).toBeUndefined()
    await limit.resetKey('ada')
    expect(await limit.getKey('ada')).toBeUndefined()
    expect((await send(limit, { ip: 'ada' })).passed).toBe(true)
  })

  function remote(): HeadgateStore {
    const memory = memoryStore()
    return customStore({ name: 'remote', apply: async (operations) => memory.apply(operations) })
  }

  test.each([
    ['MemoryCounter', () => new MemoryCounter(60_000)],
    ['MemoryStore', () => new MemoryStore()],
  ])('%s takes back one hit, never below none, and forgets all', async (_, create) => {
    const store = create()
    const hitsOf = async (key: string) => (await store.get(key))?.totalHits
    for (const key of ['ada', 'ada', 'bob']) await store.increment(key)
    await store.decrement('ada')
    expect([await hitsOf('ada'), await hitsOf('bob')]).toEqual([1, 1])
    for (let i = 0; i < 3; i++) await store.decrement('ada')
    expect(await hitsOf('ada')).toBeUndefined()
    await store.resetAll()
    expect(await hitsOf('bob')).toBeUndefined()
    await store.increment('bob')
    await store.shutdown()
    expect(await hitsOf('bob')).toBeUndefined()
  })

  test('of a MemoryStore begins anew with another window, and keeps its hits with the same', async () => {
    const store = new MemoryStore()
    await store.increment('ada')
    store.init({ windowMs: 60_000 })
    expect(await store.get('ada')).toMatchObject({ totalHits: 1 })
    store.init({ windowMs: 1000 })
    expect([await store.get('ada'), store.windowMs]).toEqual([undefined, 1000])
    expect(() => store.init({ windowMs: 0 })).toThrow('rateLimit: windowMs must be a number of milliseconds')
  })

  test('on a store that another shares needs an identifier', () => {
    const store = memoryStore()
    made({ store })
    expect(() => made({ store })).toThrow(/identifier/)
    expect(() => made({ store })).not.toThrow(/\bname\b/)
    expect(() => made({ store, identifier: 'api' })).not.toThrow()
  })
})

test.each<[GivenOptions, string]>([
  [{ windowMs: 0 }, 'windowMs must be a number of milliseconds above 0 and at most 10 years, got 0.'],
  [{ windowMs: -1 }, 'windowMs must be'],
  [{ windowMs: 11 * 365 * 86_400_000 }, 'windowMs must be'],
  [{ windowMs: '15m' as never }, 'windowMs must be'],
  [{ limit: 'many' as never }, 'limit must be a number, or a function that returns one, got "many".'],
  [{ limit: Number.NaN }, 'limit must be'],
  [{ logger: { error() {} } as never }, 'logger must be an object with the methods error and warn'],
  [{ logger: { warn() {} } as never }, 'logger must be an object with the methods error and warn'],
  [{ logger: 'console' as never }, 'logger must be an object'],
])('%j is a TypeError', (options, message) => {
  expect(() => rateLimit({ validate: false, ...options })).toThrow(new RegExp(`^rateLimit: ${message}`))
})

test('an option that is undefined has its default', async () => {
  const limit = made({ limit: undefined, windowMs: undefined, statusCode: undefined } as object)
  const { headers } = await send(limit)
  expect(headers['x-ratelimit-limit']).toBe('5')
  expect((await sendAll(limit, 5)).status).toBe(429)
  expect((await send(made({ max: 7 }))).headers['x-ratelimit-limit']).toBe('7')
})

test.each([
  ['2001:db8:7:9::1', '48', '2001:db8:7::/48'],
  ['2001:db8:7:9::1', 0, '2001:db8:7:9::1'],
  ['2001:db8:7:9::1', 128, '2001:db8:7:9::1/128'],
  ['fe80::1%eth0', 64, 'fe80::/64'],
  ['no address', 64, 'no address'],
])('ipKeyGenerator(%j, %j) is %s', (ip, bits, key) => {
  expect(ipKeyGenerator(ip, bits as number)).toBe(key)
})
