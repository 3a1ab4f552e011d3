import {
  ban,
  concurrency,
  createLimiter,
  fixedWindow,
  memoryStore,
  type Policy,
  type Store,
  tokenBucket,
} from 'headgate'
import { redisStore } from 'headgate/redis'
import { useRedis } from './use-redis.js'

const redis = useRedis()
const stores: readonly [string, () => Store][] = [
  ['memory', () => memoryStore()],
  ['Redis', () => redisStore(redis.client)],
]

/** A limiter of one client, as another version of an application has it. */
function limiterOf(store: Store, policy: Policy) {
  return createLimiter<string>({
    name: 'x',
    policy,
    key: (client) => client,
    store,
    onStoreError: 'deny',
    timeout: '10s',
  })
}

describe.each(stores)('in %s', (_, create) => {
  test('processes that keep units and processes that scale them never admit more than both limits', async () => {
    const store = create()
    const kept = limiterOf(store, fixedWindow({ limit: 100, window: '1d' }))
    const scaled = limiterOf(store, fixedWindow({ limit: 10, window: '1d', onChange: 'scale' }))
    let admitted = 0
    for (let round = 0; round < 5; round++) {
      while ((await kept.charge('c')).allowed) admitted++
      while ((await scaled.charge('c')).allowed) admitted++
    }
    expect(admitted).toBe(110)
  })

  test('a client at a higher level than its new ban has is denied, and those beside it are counted', async () => {
    const store = create()
    const base = fixedWindow({ limit: 1, window: '1h' })
    const rules = { after: 1, within: '1m', onAttempt: 'restart' } as const
    const before = limiterOf(store, ban(base, { ...rules, for: ['30ms', '40ms', '1h'] }))
    const after = limiterOf(store, ban(base, { ...rules, for: ['1h'] }))
    await before.charge('evil')
    for (let i = 0; i < 4; i++) {
      await before.charge('evil')
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
    const decisions = await Promise.all(['evil', 'ada', 'bob', 'ada'].map((client) => after.charge(client)))
    expect(decisions.map(({ source, allowed }) => [source, allowed])).toEqual([
      ['store', false],
      ['store', true],
      ['store', true],
      ['store', false],
    ])
  })

  test('units that are held under another ttl are released where they are held', async () => {
    const store = create()
    const before = limiterOf(store, concurrency({ limit: 8, ttl: '8s' }))
    const after = limiterOf(store, concurrency({ limit: 8, ttl: '5m' }))
    const held = [await before.charge('c'), await before.charge('c')]
    for (let i = 0; i < 5; i++) await after.release(await after.charge('c'))
    for (const decision of held) await before.release(decision)
    expect(await after.charge('c', { cost: 8 })).toMatchObject({ allowed: true, remaining: 0 })
  })
})

test('a refund of units that a new, faster rate has refilled gives none of them back', () => {
  const slow = tokenBucket({ capacity: 10, refill: 10, every: '10h' })
  const fast = tokenBucket({ capacity: 10, refill: 10, every: '1s' })
  const atMs = 1_790_000_000_000
  const first = slow.take(undefined, atMs, 10)
  const adopted = fast.take(first.next, atMs, 1).next // denied
  const laterMs = atMs + 1500
  const { next: empty } = fast.take(adopted, laterMs, 10)
  const refunded = slow.refund(empty ?? [], laterMs, 10, atMs, atMs + first.resetAfterMs)
  expect(fast.take(refunded, laterMs, 0).remaining).toBe(0)
})
