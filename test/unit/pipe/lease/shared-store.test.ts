import {
  concurrency,
  createLimiter,
  type Decision,
  fixedWindow,
  type Limiter,
  leased,
  memoryStore,
  type Policy,
  type Store,
  tokenBucket,
} from 'headgate'
import { type Batching, customStore, type Documents, keysOf, type Operation } from 'headgate/store'
import { beforeEachLease, HOLD_MS, pass, type RemoteStore } from '../../../support/leased-store.js'

const hourly = fixedWindow({ limit: 3200, window: '1h' }) // blocks of up to 200
const LIMIT = 3200

let remote: RemoteStore

beforeEachLease((made) => {
  remote = made
})

const limiterOn = (store: Store, name: string, policy: Policy = hourly) =>
  createLimiter({ name, policy, key: () => 'all', store })

async function chargeTimes(limiter: Limiter<unknown>, times: number): Promise<Decision[]> {
  const decisions: Decision[] = []
  for (let i = 0; i < times; i++) decisions.push(await limiter.charge(undefined))
  return decisions
}

const leasedCount = (decisions: readonly Decision[]) =>
  decisions.filter(({ source }) => source === 'lease').length

const remainingOf = async (limiter: Limiter<unknown>) => (await limiter.peek(undefined)).remaining

test('two limiters lease units of their own keys from one store', async () => {
  const store = leased(remote, { processes: 1 })
  const [first, second] = [limiterOn(store, 'first'), limiterOn(store, 'second')]
  for (const limiter of [first, second])
    expect(leasedCount(await chargeTimes(limiter, 50))).toBeGreaterThan(20)
  await first.close()
  await second.close()
  expect(await remainingOf(first)).toBe(LIMIT - 50)
  expect(await remainingOf(second)).toBe(LIMIT - 50)
})

test('two limiters of one name consume the units of one block, and together admit exactly their limit', async () => {
  const store = leased(remote, { processes: 1 })
  const limiters = [limiterOn(store, 'same'), limiterOn(store, 'same')]
  let allowed = 0
  for (let round = 0; round < 40; round++) {
    for (const limiter of limiters) {
      const decisions = await chargeTimes(limiter, 50)
      allowed += decisions.filter((decision) => decision.allowed).length
    }
    const plain = limiterOn(remote, 'same')
    expect(LIMIT - (await remainingOf(plain)) - allowed).toBeLessThanOrEqual(LIMIT / 16)
  }
  expect(allowed).toBe(LIMIT)
})

test('a limiter that closes returns the units, and the other one goes on leasing', async () => {
  const store = leased(remote, { processes: 1 })
  const [closed, open] = [limiterOn(store, 'closed'), limiterOn(store, 'open')]
  for (const limiter of [closed, open]) await chargeTimes(limiter, 50)
  await closed.close()
  expect(await remainingOf(open)).toBe(LIMIT - 50)
  expect(leasedCount(await chargeTimes(open, 50))).toBeGreaterThan(20)
  await pass(remote, 2 * HOLD_MS)
  expect(await remainingOf(open)).toBe(LIMIT - 100)
  expect((await chargeTimes(closed, 1))[0]).toMatchObject({ allowed: true, source: 'store' })
})

test('concurrency and charges of several limits go to the store', async () => {
  const store = leased(remote, { processes: 1 })
  const inUse = createLimiter({
    name: 'in-use',
    policy: concurrency({ limit: 100 }),
    key: () => 'all',
    store: leased(asynchronous(memoryStore()), { processes: 1 }),
  })
  const held = await chargeTimes(inUse, 50)
  expect(leasedCount(held)).toBe(0)
  for (const decision of held.slice(0, 20)) await inUse.release(decision)
  expect(await remainingOf(inUse)).toBe(70)
  await inUse.close()
  const key = () => 'all'
  const burst = tokenBucket({ capacity: 64, refill: 64, every: '1s' })
  const several = createLimiter({
    name: 'several',
    limits: [
      { policy: hourly, key },
      { name: 'burst', policy: burst, key },
    ],
    store,
  })
  expect(leasedCount(await chargeTimes(several, 50))).toBe(0)
})

/** Returns a store that answers with promises, and records its batches. */
function asynchronous(memory: Store, batching?: Batching) {
  const batches: (readonly Operation[])[] = []
  const store: Store = customStore({
    name: 'remote',
    ...(batching && { batching }),
    async apply(operations) {
      batches.push(operations)
      return memory.apply(operations)
    },
  })
  return Object.assign(store, { batches })
}

test('what is not leased goes in the batches of the inner store, with those of its other limiters', async () => {
  jest.useRealTimers()
  const inner = asynchronous(memoryStore(), { maxKeys: 100, maxInFlight: 1 })
  const byName = (name: string, store: Store) =>
    createLimiter({ name, policy: hourly, key: (key: string) => key, store })
  const [direct, leasing] = [byName('direct', inner), byName('leasing', leased(inner))]
  const charges = Array.from({ length: 20 }, (_, i) => [direct.charge(`${i}`), leasing.charge(`${i}`)])
  await Promise.all(charges.flat())
  expect(inner.batches.map(({ length }) => length)).toEqual([40])
})

test('each server has its own circuit breaker, and units of a server that is down are consumed at once', async () => {
  const memory = memoryStore()
  const down = new Set<string>()
  const serverOf = (key: string) => (key.startsWith('hg:3:a:') ? 'a' : 'b')
  const inner: Store = customStore({
    name: 'remote',
    serverOf,
    async apply(operations) {
      for (const { key } of operations.flatMap(keysOf))
        if (down.has(serverOf(key))) throw new Error('connection refused')
      return memory.apply(operations)
    },
  })
  const store = leased(inner, { processes: 1, hold: '10s' })
  const byName = (name: string) => createLimiter({ name, policy: hourly, key: (key: string) => key, store })
  const limiters = { a: byName('a'), b: byName('b') }
  const states: unknown[] = []
  limiters.a.events.on('storeState', (state, _cause, server) => states.push([state, server]))
  limiters.a.events.on('storeError', () => {})
  for (let i = 0; i < 20; i++) await limiters.a.charge('hot')
  down.add('a')
  for (let i = 0; i < 5; i++) {
    expect(await limiters.a.charge(`cold ${i}`)).toMatchObject({ source: 'local' })
    await jest.advanceTimersByTimeAsync(20)
  }
  expect(states).toEqual([['open', 'a']])
  expect(await limiters.a.charge('hot')).toMatchObject({ allowed: true, source: 'lease' })
  expect(await limiters.b.charge('cold')).toMatchObject({ allowed: true, source: 'store' })
})

test('a limiter without a name cannot share the keys of one on the inner store', () => {
  const options = { policy: hourly, key: () => 'all' }
  createLimiter({ ...options, store: remote })
  expect(() => createLimiter({ ...options, store: leased(remote) })).toThrow(
    'already serves a limiter without a name',
  )
})

test('what the inner store tells of itself is kept', () => {
  const documents = {} as Documents
  const unsubscribe = () => {}
  const inner = {
    ...asynchronous(memoryStore()),
    onLimitsLost: () => unsubscribe,
    documents,
  }
  const store = leased(inner)
  expect(store.name).toBe('remote')
  expect(store.documents).toBe(documents)
  expect(store.onLimitsLost?.(() => {})).toBe(unsubscribe)
  const plain = leased(asynchronous(memoryStore()))
  expect(Object.keys(plain)).toEqual(expect.not.arrayContaining(['serverOf', 'onLimitsLost']))
  expect(plain.documents).toBeUndefined()
})
