import fc from 'fast-check'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  memoryStore,
  type Policy,
  type Store,
  slidingLog,
  tokenBucket,
} from 'headgate'
import { customStore } from 'headgate/store'

/** A charge that waits, and when its caller gives up, if it does. */
interface Wait {
  readonly client: 'a' | 'b' | 'c'
  readonly cost: number
  /** After the wait before it. */
  readonly afterMs: number
  readonly ends: { readonly by: 'nothing' | 'abort' | 'deadline'; readonly afterMs: number }
}

const waits = fc.array(
  fc.record<Wait>({
    client: fc.constantFrom('a', 'b', 'c'),
    cost: fc.integer({ min: 1, max: 3 }),
    afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40 })),
    ends: fc.record({
      by: fc.constantFrom('nothing', 'nothing', 'nothing', 'abort', 'deadline'),
      afterMs: fc.integer({ min: 1, max: 200 }),
    }),
  }),
  { minLength: 1, maxLength: 25 },
)
const policies = fc.constantFrom<Policy>(
  tokenBucket({ capacity: 3, refill: 1, every: '10ms' }),
  tokenBucket({ capacity: 8, refill: 4, every: '20ms' }),
  fixedWindow({ limit: 4, window: '30ms', startsAt: 'first-request' }),
  slidingLog({ limit: 4, window: '30ms' }),
  concurrency({ limit: 3, ttl: '1m' }),
)
const ample = fixedWindow({ limit: 1e6, window: '1h', startsAt: 'first-request' })
const latencies = fc.constantFrom(undefined, 1, 3, 25)

/** Returns a store that replies after so many milliseconds, in the order of its calls; or one in memory. */
function storeWith(latencyMs: number | undefined): Store {
  const memory = memoryStore({ clock: Date.now })
  if (latencyMs === undefined) return memory
  const pause = () => new Promise((resolve) => setTimeout(resolve, latencyMs))
  return customStore({
    name: 'late',
    async apply(operations) {
      await pause()
      const results = await memory.apply(operations)
      await pause()
      return results
    },
  })
}

/** Lets all wait. Returns those that were allowed, in the order of their decisions, and those still waiting. */
async function orderOf(all: readonly Wait[], each: Policy, shared: Policy, latencyMs: number | undefined) {
  jest.useFakeTimers()
  const limiter = createLimiter<string>({
    limits: [
      { name: 'each', policy: each, key: (id) => id },
      { name: 'shared', policy: shared, key: () => 'shared' },
    ],
    store: storeWith(latencyMs),
    timeout: '10s',
  })
  const order: number[] = []
  const lost = new Set(all.keys())
  for (const [i, { client, cost, afterMs, ends }] of all.entries()) {
    await jest.advanceTimersByTimeAsync(afterMs)
    const controller = new AbortController()
    if (ends.by === 'abort') setTimeout(() => controller.abort(), ends.afterMs)
    const bounds = ends.by === 'deadline' ? { maxWait: ends.afterMs } : { signal: controller.signal }
    limiter
      .waitFor(client, { cost, ...bounds })
      .then(
        (decision) => {
          if (decision.allowed) order.push(i)
          setTimeout(() => limiter.release(decision), 20)
        },
        () => {},
      )
      .finally(() => lost.delete(i))
  }
  await jest.advanceTimersByTimeAsync(20_000)
  const left = [...lost]
  await Promise.all([limiter.close(), jest.advanceTimersByTimeAsync(1000)])
  jest.useRealTimers()
  return { order, left }
}

test('charges of the same keys are allowed in order of arrival, whatever others wait for, and none is lost', async () => {
  await fc.assert(
    fc.asyncProperty(waits, policies, policies, latencies, async (all, each, shared, latencyMs) => {
      const { order, left } = await orderOf(all, each, shared, latencyMs)
      expect(left).toEqual([])
      for (const client of ['a', 'b', 'c']) {
        const own = order.filter((i) => all[i]?.client === client)
        expect(own).toEqual(own.toSorted((one, other) => one - other))
      }
    }),
  )
})

test('charges that wait for a shared limit only are allowed in order of arrival', async () => {
  await fc.assert(
    fc.asyncProperty(waits, policies, latencies, async (all, shared, latencyMs) => {
      const { order, left } = await orderOf(all, ample, shared, latencyMs)
      expect(left).toEqual([])
      expect(order).toEqual(order.toSorted((one, other) => one - other))
    }),
  )
})

const NAMES = ['x', 'y', 'z'] as const
const filling = (limit: number) => ({ limit, window: '30ms', startsAt: 'first-request' }) as const
/** Policies of one kind with other numbers, between which a limit may change. */
const changing = fc.constantFrom<[Policy, Policy]>(
  [
    tokenBucket({ capacity: 3, refill: 1, every: '10ms' }),
    tokenBucket({ capacity: 8, refill: 4, every: '20ms' }),
  ],
  [fixedWindow(filling(4)), fixedWindow(filling(6))],
  [slidingLog({ limit: 4, window: '30ms' }), slidingLog({ limit: 3, window: '30ms' })],
)
const crossings = fc.array(
  fc.record({
    names: fc.subarray([...NAMES], { minLength: 1 }),
    cost: fc.integer({ min: 1, max: 3 }),
    afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40 })),
    isChange: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
)

/** A charge of some of the limits. */
interface Crossing {
  readonly names: readonly string[]
}

/**
 * Lets charges wait while others keep each limit exhausted. Returns those that are still waiting after ten
 * seconds.
 */
async function leftUnderLoad(
  all: readonly { names: readonly string[]; cost: number; afterMs: number; isChange: boolean }[],
  each: readonly (readonly [Policy, Policy])[],
  latencyMs: number | undefined,
) {
  jest.useFakeTimers()
  let changes = 0
  const limiter = createLimiter<Crossing>({
    limits: NAMES.map((name, i) => ({
      name,
      policy: () => each[i]?.[changes % 2] as Policy,
      key: () => name,
      skip: ({ names }: Crossing) => !names.includes(name),
    })),
    store: storeWith(latencyMs),
    timeout: '10s',
  })
  const lost = new Set(all.keys())
  let isOver = false
  const load = NAMES.flatMap((name) => [name, name, name]).map(async (name) => {
    while (!isOver) await limiter.waitFor({ names: [name] })
  })
  for (const [i, { names, cost, afterMs, isChange }] of all.entries()) {
    await jest.advanceTimersByTimeAsync(afterMs)
    if (isChange) changes += 1
    limiter.waitFor({ names }, { cost }).then(() => lost.delete(i))
  }
  for (let i = 0; i < 100 && lost.size > 0; i++) await jest.advanceTimersByTimeAsync(100)
  const left = [...lost]
  isOver = true
  await Promise.all([limiter.close(), jest.advanceTimersByTimeAsync(1000)])
  await Promise.all(load)
  jest.useRealTimers()
  return left
}

test('charges of several limits all get their turn, under steady load, however the numbers change', async () => {
  await fc.assert(
    fc.asyncProperty(crossings, fc.tuple(changing, changing, changing), latencies, async (...input) => {
      expect(await leftUnderLoad(...input)).toEqual([])
    }),
    { numRuns: 60 },
  )
})
