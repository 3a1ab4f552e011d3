import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  byHeader,
  byIp,
  fixedWindow,
  memoryStore,
  type RateLimitOptions,
  rateLimit,
  tokenBucket,
} from 'headgate'
import { EXPRESS_5, type Handler, sayHello } from '../support/frameworks.js'
import { closeServers, send, serve, statuses, times } from '../support/http.js'

afterEach(closeServers)

const { app } = EXPRESS_5
const clock = () => 1_700_000_000_000
const bucket = (capacity: number, name?: string) =>
  tokenBucket({ capacity, refill: capacity, every: '1m', ...(name && { name }) })

describe('when several limits are one charge,', () => {
  test('a denied account takes nothing from its address', async () => {
    const limiter = rateLimit({
      store: memoryStore({ clock }),
      headers: 'draft',
      limits: [
        { name: 'ip', policy: bucket(4), key: byIp() },
        { name: 'account', policy: bucket(1), key: byHeader('x-account') },
      ],
    })
    const served = await serve(app(limiter, sayHello))
    const as = (account: string) => ({ headers: { 'x-account': account } })
    expect(await statuses(served, [as('bob'), ...times(10, as('bob'))])).toEqual([
      200,
      ...Array(10).fill(429),
    ])
    const { status, headers } = await send(served, as('eve'))
    expect(status).toBe(200)
    expect(headers.ratelimit).toBe('"ip";r=2;t=15, "account";r=0;t=60')
  })

  test('a denied address takes nothing from the account', async () => {
    const limiter = rateLimit({
      store: memoryStore({ clock }),
      limits: [
        { name: 'account', policy: bucket(2), key: byHeader('x-account') },
        { name: 'ip', policy: bucket(1), key: byIp() },
      ],
    })
    const served = await serve(app(limiter, sayHello))
    const bob = { headers: { 'x-account': 'bob' } }
    expect(await statuses(served, times(5, bob))).toEqual([200, 429, 429, 429, 429])
    expect((await send(served, { ...bob, from: '127.0.0.2' })).status).toBe(200)
  })

  test('a denial by the longer window of a key takes nothing from the shorter one', async () => {
    let nowMs = clock()
    const limiter = rateLimit({
      store: memoryStore({ clock: () => nowMs }),
      limits: [
        { policy: fixedWindow({ limit: 2, window: '1s' }) },
        { policy: fixedWindow({ limit: 3, window: '1h' }) },
      ],
    })
    const served = await serve(app(limiter, sayHello))
    expect(await statuses(served, times(3))).toEqual([200, 200, 429])
    nowMs += 1000
    const [third, fourth] = [await send(served), await send(served)]
    expect([third.status, fourth.status]).toEqual([200, 429])
    expect(fourth.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' })
    expect(Number(fourth.headers['retry-after'])).toBeGreaterThan(1)
  })

  test('the problem document names the limits that denied, and only those', async () => {
    const limiter = rateLimit({
      limits: [
        { name: 'wide', policy: bucket(9) },
        { name: 'narrow', policy: bucket(1) },
      ],
    })
    const served = await serve(app(limiter, sayHello))
    await send(served)
    const { text } = await send(served, { headers: { accept: 'application/json' } })
    expect(JSON.parse(text)['violated-policies']).toEqual(['narrow'])
  })
})

describe('with several limiters on one route', () => {
  const limiter = (options: RateLimitOptions<IncomingMessage, ServerResponse>): Handler =>
    rateLimit({ store: memoryStore({ clock }), ...options })

  test.each([
    ['the first', [2, 9]],
    ['the last', [9, 2]],
  ])('legacy headers show the limiter nearest to exhaustion, when it is %s', async (_which, limits) => {
    const served = await serve(app(...limits.map((limit) => limiter({ limit, window: '1m' })), sayHello))
    expect((await send(served)).headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
    })
  })

  test('draft headers hold the limits of all limiters', async () => {
    const both = [10, 2].map((n) => limiter({ policy: bucket(n, `of-${n}`), headers: 'draft' }))
    const served = await serve(app(...both, sayHello))
    expect((await send(served)).headers).toMatchObject({
      'ratelimit-policy': '"of-10";q=10;w=60, "of-2";q=2;w=60',
      ratelimit: '"of-10";r=9;t=6, "of-2";r=1;t=30',
    })
  })
})

describe('on one store', () => {
  const options = { limit: 2, window: '1m' } as const
  const counts = async (...handlers: Handler[]) =>
    statuses(await serve(app(...handlers, sayHello)), times(3)).then((seen) => seen.join(' '))

  test('one middleware mounted twice on a path counts a request once', async () => {
    const limiter = rateLimit(options)
    expect(await counts(limiter, limiter)).toBe('200 200 429')
  })

  test('an async middleware mounted twice counts a request once as well', async () => {
    const limiter = rateLimit({ ...options, skip: async () => false })
    expect(await counts(limiter, limiter)).toBe('200 200 429')
  })

  test('two middlewares of one name share their counts if they share a store', async () => {
    const shared = memoryStore()
    const named = () => rateLimit({ ...options, name: 'login', store: shared })
    expect(await counts(named(), named())).toBe('200 429 429')
    const alone = () => rateLimit({ ...options, name: 'login' })
    expect(await counts(alone(), alone())).toBe('200 200 429')
  })

  test('two middlewares of different names or prefixes do not share their counts', async () => {
    const store = memoryStore()
    const named = (name: string, prefix = 'hg') => rateLimit({ ...options, name, prefix, store })
    expect(await counts(named('a'), named('b'), named('a', 'other'))).toBe('200 200 429')
  })

  test('two middlewares without names do not share their counts', async () => {
    expect(await counts(rateLimit(options), rateLimit(options))).toBe('200 200 429')
  })

  test('a second unnamed middleware is an error that says to name them', () => {
    const store = memoryStore()
    rateLimit({ ...options, store })
    expect(() => rateLimit({ ...options, store })).toThrow(
      /^rateLimit: this store already serves a limiter without a name.* give it a name, such as name: 'login'/,
    )
    expect(() => rateLimit({ ...options, store, name: 'login' })).not.toThrow()
    expect(() => rateLimit({ ...options, store, prefix: 'other' })).not.toThrow()
  })

  test('a factory that throws for its options does not claim the store', () => {
    const store = memoryStore()
    expect(() => rateLimit({ limit: Number.NaN, window: '1m', store })).toThrow(TypeError)
    expect(() => rateLimit({ ...options, store })).not.toThrow()
  })

  const policy = bucket(2)
  test.each([
    [
      'a limiter a.b and limit b of limiter a',
      { name: 'a.b', policy },
      { name: 'a', limits: [{ name: 'b', policy }] },
    ],
    [
      'limit c of limiter a.b and limit b.c of limiter a',
      { name: 'a.b', limits: [{ name: 'c', policy }] },
      { name: 'a', limits: [{ name: 'b.c', policy }] },
    ],
    ['a limiter without a name and one called default', { policy }, { name: 'default', policy }],
  ])('names that only look alike do not share their counts: %s', async (_what, one, other) => {
    const store = memoryStore()
    expect(await counts(rateLimit({ ...one, store }), rateLimit({ ...other, store }))).toBe('200 200 429')
  })
})
