import {
  consecutive,
  createLimiter,
  fixedWindow,
  type MemoryStore,
  memoryStore,
  type Policy,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { LONG } from '../../../../src/testing/conformance/sample-policies.js'
import { listenForWarnings } from '../../../support/warnings.js'

interface Client {
  readonly id: string
}
const key = ({ id }: Client) => id

let store: MemoryStore
beforeEach(() => {
  listenForWarnings()
  store = memoryStore({ maxKeys: 1, clock: () => 1_790_000_000_000 })
  const filler = createLimiter({ name: 'filler', policy: consecutive({ limit: 1 }), key, store })
  filler.charge({ id: 'limited' }) // the only key that the store has room for, and it is at its limit
})
afterEach(() => jest.restoreAllMocks())

/** Every policy with a limit of 2. */
const POLICIES: readonly (readonly [string, Policy])[] = [
  ['tokenBucket', tokenBucket({ capacity: 2, refill: 2, every: LONG })],
  ['slidingWindow', slidingWindow({ limit: 2, window: LONG })],
  ['fixedWindow', fixedWindow({ limit: 2, window: LONG })],
  ['consecutive', consecutive({ limit: 2 })],
]

describe.each(POLICIES)('new keys in a full store, with %s,', (_name, policy) => {
  function limiterCalled(name: string) {
    const limiter = createLimiter({ name, policy, key, store })
    return { ...limiter, allows: async (id: string) => (await limiter.charge({ id })).allowed }
  }

  test('share one overflow bucket', async () => {
    const { allows } = limiterCalled('a')
    expect([await allows('new-1'), await allows('new-2'), await allows('new-3')]).toEqual([true, true, false])
  })

  test('do not share it with those of another limiter of equal policy', async () => {
    const [a, b] = [limiterCalled('a'), limiterCalled('b')]
    expect([await a.allows('new-1'), await a.allows('new-2'), await a.allows('new-3')]).toEqual([
      true,
      true,
      false,
    ])
    expect([await b.allows('new-1'), await b.allows('new-2'), await b.allows('new-3')]).toEqual([
      true,
      true,
      false,
    ])
  })

  const limits = [
    { name: 'x', policy, key },
    { name: 'y', policy, key },
  ]
  const remaining = ({ parts }: { parts: readonly { remaining: number }[] }) =>
    parts.map((part) => part.remaining)

  test('are charged one unit by each of two limits of equal policy', async () => {
    const both = createLimiter({ name: 'both', limits, store })
    expect(remaining(await both.charge({ id: 'new-1' }))).toEqual([1, 1])
    expect(remaining(await both.charge({ id: 'new-2' }))).toEqual([0, 0])
    expect(await both.charge({ id: 'new-3' })).toMatchObject({ allowed: false })
  })

  test('refund what they took', async () => {
    const a = limiterCalled('a')
    for (const id of ['new-1', 'new-2']) await a.refund(await a.charge({ id }))
    expect(await a.charge({ id: 'new-3' })).toMatchObject({ allowed: true, remaining: 1 })
  })

  test('refund no more than they took', async () => {
    const a = limiterCalled('a')
    const first = await a.charge({ id: 'new-1' })
    await a.charge({ id: 'new-2' })
    for (let i = 0; i < 3; i++) await a.refund(first)
    expect([await a.allows('new-3'), await a.allows('new-4')]).toEqual([true, false])
  })

  test('refund what they took from two limits of equal policy', async () => {
    const both = createLimiter({ name: 'both', limits, store })
    for (const id of ['new-1', 'new-2']) await both.refund(await both.charge({ id }))
    expect(remaining(await both.charge({ id: 'new-3' }))).toEqual([1, 1])
  })

  test('refund nothing to another limiter of equal policy', async () => {
    const [a, b] = [limiterCalled('a'), limiterCalled('b')]
    for (const id of ['new-1', 'new-2']) await b.charge({ id })
    for (const id of ['new-1', 'new-2']) await a.refund(await a.charge({ id }))
    expect(await b.allows('new-3')).toBe(false)
  })

  test('do not evict the client at its limit', async () => {
    const a = limiterCalled('a')
    for (const id of ['new-1', 'new-2']) await a.refund(await a.charge({ id }))
    const filler = createLimiter({ name: 'filler', policy: consecutive({ limit: 1 }), key, store })
    expect(await filler.charge({ id: 'limited' })).toMatchObject({ allowed: false })
    expect(store.size).toBe(1)
  })
})
