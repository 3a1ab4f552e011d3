import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  byHeader,
  byIp,
  fixedWindow,
  memoryStore,
  type Policy,
  type RateLimitOptions,
  rateLimit,
} from 'headgate'
import { FRAMEWORKS, type Handler, sayHello } from '../support/frameworks.js'
import { closeServers, send, serve, statuses, times } from '../support/http.js'

afterEach(closeServers)

type Options = RateLimitOptions<IncomingMessage, ServerResponse>

const five = fixedWindow({ limit: 5, window: '1h' })

/** What a JavaScript user's function might return. */
const WRONG = [Number.NaN, -1, Number.POSITIVE_INFINITY, 1.5, '2', null, undefined, true, {}, [1], 2n]

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  const serveLimited = (options: Options, handler: Handler = sayHello) =>
    serve(app(rateLimit({ policy: five, store: memoryStore({ clock: () => 0 }), ...options }), handler))

  test.each<[string, NonNullable<Options['cost']>]>([
    ['a number', 2],
    ['a function', (req) => Number(req.headers['x-cost'] ?? 2)],
    ['an async function', async () => 2],
  ])('cost as %s is what a request takes', async (_what, cost) => {
    const served = await serveLimited({ cost })
    const answers = [await send(served), await send(served), await send(served)]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['3', '1', '1'])
  })

  test('cost 0 shows the quota, takes nothing and is never denied', async () => {
    const served = await serveLimited({ cost: (req) => (req.method === 'HEAD' ? 0 : 5) })
    expect((await send(served, { method: 'HEAD' })).headers['x-ratelimit-remaining']).toBe('5')
    expect(await statuses(served, times(2))).toEqual([200, 429])
    const free = await send(served, { method: 'HEAD' })
    expect(free).toMatchObject({ status: 200, headers: { 'x-ratelimit-remaining': '0' } })
  })

  test('a cost above the limit is denied for ever: 403 without Retry-After, and takes nothing', async () => {
    const served = await serveLimited({ cost: (req) => Number(req.headers['x-cost']) })
    const over = await send(served, { headers: { 'x-cost': 6 } })
    expect(over).toMatchObject({ status: 403, text: 'Over the limit. Waiting will not help.\n' })
    expect(over.headers).not.toHaveProperty('retry-after')
    expect(over.headers['cache-control']).toBe('no-store')
    expect((await send(served, { headers: { 'x-cost': 5 } })).status).toBe(200)
  })

  test.each(WRONG)('a cost function that answers %p is an error, never a free pass', async (wrong) => {
    const reached = jest.fn(sayHello)
    for (const cost of [() => wrong, async () => wrong]) {
      const served = await serveLimited({ cost: cost as () => number }, reached)
      const { status, text } = await send(served)
      expect(status).toBe(500)
      expect(text).toMatch(
        /^rateLimit: cost must be a whole number of at least 0, got .* Did you mean cost: \d+\?$/,
      )
    }
    expect(reached).not.toHaveBeenCalled()
  })

  test.each([
    ['keep', [200, 200, 200, 200, 429, 429]], // what the free plan took stays in use
    ['reset', [200, 200, 200, 200, 200, 429]],
  ] as const)(
    'a policy function chooses who gets how much, and a plan without a policy is an error: %s',
    async (onChange, pro) => {
      const plans: Record<string, Policy> = {
        free: fixedWindow({ limit: 1, window: '1h', onChange }),
        pro: fixedWindow({ limit: 5, window: '1h', onChange }),
      }
      const choose = (req: IncomingMessage) => plans[String(req.headers['x-plan'])] as Policy
      const plan = (name: string) => times(6, { headers: { 'x-plan': name } })
      for (const policy of [choose, async (req: IncomingMessage) => choose(req)]) {
        const served = await serveLimited({ policy })
        expect(await statuses(served, plan('free'))).toEqual([200, 429, 429, 429, 429, 429])
        expect(await statuses(served, plan('pro'))).toEqual(pro)
        const { status, text } = await send(served, { headers: { 'x-plan': 'staff' } })
        expect([status, text]).toEqual([500, expect.stringContaining('plans[plan] ?? plans.free')])
      }
    },
  )

  test('a policy function may make an equal policy for each request', async () => {
    const served = await serveLimited({ policy: () => fixedWindow({ limit: 1, window: '1h' }) })
    expect(await statuses(served, times(2))).toEqual([200, 429])
  })

  test.each([5, '5 per minute', {}, { limit: 5, window: '1m' }, true])(
    'a policy function that answers %p is an error, never a free pass',
    async (wrong) => {
      const reached = jest.fn(sayHello)
      for (const policy of [() => wrong, async () => wrong]) {
        const served = await serveLimited({ policy: policy as unknown as () => Policy }, reached)
        const { status, text } = await send(served)
        expect(status).toBe(500)
        expect(text).toMatch(/^rateLimit: policy must be a policy, got .* Did you mean tokenBucket\(/)
      }
      expect(reached).not.toHaveBeenCalled()
    },
  )

  test.each([undefined, null])(
    'a request whose key is %p is limited by address, alone or in an array',
    async (none) => {
      const user = (req: IncomingMessage) => req.headers['x-user'] ?? none
      for (const key of [user, async (req: IncomingMessage) => user(req), [byIp(), user]]) {
        const served = await serveLimited({ key, cost: 5 })
        expect(await statuses(served, times(2))).toEqual([200, 429])
        expect(await statuses(served, times(2, { from: '127.0.0.9' }))).toEqual([200, 429])
        expect(await statuses(served, times(2, { headers: { 'x-user': 'bob' } }))).toEqual([200, 429])
      }
    },
  )

  test.each([() => true, async () => true])(
    'a limit that skips a request leaves the others in force',
    async (skip) => {
      const limits = [
        { name: 'user', policy: five, skip },
        { name: 'ip', policy: five, cost: 5 },
      ]
      const served = await serve(app(rateLimit({ limits }), sayHello))
      expect(await statuses(served, times(2))).toEqual([200, 429])
    },
  )

  test('an array of keys is one identity, which no other split of their text gives', async () => {
    const served = await serveLimited({ key: [byHeader('x-a'), byHeader('x-b')], cost: 5 })
    const as = (a: string, b: string) => ({ headers: { 'x-a': a, 'x-b': b } })
    const seen = await statuses(served, [
      as('a', 'bc'),
      as('ab', 'c'),
      as('a|b', 'c'),
      as('a', 'b|c'),
      as('a', 'bc'),
    ])
    expect(seen).toEqual([200, 200, 200, 200, 429])
  })
})
