import { ban, concurrency, createLimiter, fixedWindow, memoryStore, type Policy, type Store } from 'headgate'
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
  test('processes with different limits never admit more than the larger one', async () => {
    const store = create()
    const larger = limiterOf(store, fixedWindow({ limit: 100, window: '1d' }))
    const smaller = limiterOf(store, fixedWindow({ limit: 10, window: '1d' }))
    let admitted = 0
    for (let round = 0; round < 5; round++) {
      while ((await smaller.charge('c')).allowed) admitted++
      while ((await larger.charge('c')).allowed) admitted++
    }
    expect(admitted).toBe(100)
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
