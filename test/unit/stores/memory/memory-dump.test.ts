import {
  ban,
  consecutive,
  createLimiter,
  dumpMemory,
  fixedWindow,
  memoryStore,
  type Policy,
  quota,
  restoreMemory,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { type ChargeResult, type Operation, type Part, StoreError } from 'headgate/store'
import { callWithin } from '../../../support/call-within.js'

const three = consecutive({ limit: 3 })
const START_MS = Date.UTC(2030, 0, 1, 12)

function filled(nowMs = START_MS) {
  const store = memoryStore({ clock: () => nowMs })
  const policies: readonly Policy[] = [
    three,
    tokenBucket({ capacity: 5, refill: 1, every: '1m' }),
    slidingWindow({ limit: 4, window: '1h', slices: 3 }),
    ban(fixedWindow({ limit: 3, window: '1h' }), { after: 1, within: '1m', for: '1d' }),
    quota({ limit: 3, per: 'day' }),
  ]
  for (const [i, policy] of policies.entries()) take(store, `key-${i}`, policy, 2)
  return { store, policies }
}

function take(store: ReturnType<typeof memoryStore>, key: string, policy: Policy, cost: number) {
  return chargeTogether(store, [{ key, policy, cost }])
}

function chargeTogether(store: ReturnType<typeof memoryStore>, parts: readonly Part[]): ChargeResult {
  return store.apply([{ type: 'charge', parts }])[0] as ChargeResult
}

/** Returns what a call throws, if it throws. */
function failureOf(call: () => void): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}

/** Restores into a store of its own. */
function restored(bytes: Uint8Array, nowMs = START_MS, maxKeys = 100) {
  const store = memoryStore({ clock: () => nowMs, maxKeys })
  restoreMemory(store, bytes)
  return store
}

test('after a dump, the store denies every charge for a second, and fails all else', async () => {
  const { store } = filled()
  dumpMemory(store)
  const denial = { allowed: false, parts: [{ allowed: false, remaining: 0, retryAfterMs: 1000 }] }
  expect(take(store, 'new', three, 1)).toMatchObject(denial)
  const parts = ['a', 'b'].map((key) => ({ key, policy: three, cost: 1 }))
  expect(chargeTogether(store, parts)).toMatchObject({ allowed: false, atMs: START_MS })
  for (const type of ['forget', 'reward'] as const) {
    const [outcome] = store.apply([{ type, key: 'key-0', policy: three, units: 1 }])
    expect(outcome).toBeInstanceOf(StoreError)
    expect(outcome).toMatchObject({
      message: expect.stringContaining('the store has been dumped'),
      replied: true,
    })
  }
  const replaced = store.documents?.replace('settings', 'a text', undefined)
  await expect(replaced).rejects.toThrow('the store has been dumped, so nothing can change')
  expect(() => dumpMemory(store)).toThrow('dumpMemory: the store has already been dumped.')
})

test('a limiter denies after the dump, whatever path it takes to its store', async () => {
  const store = memoryStore()
  const one = createLimiter({ name: 'one', limit: 5, window: '1h', key: (id: string) => id, store })
  const limits = [
    { name: 'a', limit: 5, window: '1h', key: (id: string) => id },
    { name: 'b', limit: 9, window: '1h', key: (id: string) => id },
  ]
  const two = createLimiter({ name: 'two', limits, store })
  expect((await one.charge('ada')).allowed).toBe(true)
  expect((await two.charge('ada')).allowed).toBe(true)
  const next = memoryStore()
  restoreMemory(next, dumpMemory(store))
  for (const limiter of [one, two]) {
    const { allowed, source, retryAfterMs } = await limiter.charge('grace')
    expect({ allowed, source, retryAfterMs }).toEqual({ allowed: false, source: 'store', retryAfterMs: 1000 })
  }
  const again = createLimiter({ name: 'one', limit: 5, window: '1h', key: (id: string) => id, store: next })
  expect((await again.charge('ada')).remaining).toBe(3)
})

test('states that have expired meanwhile are left out, and others count on', () => {
  const { store, policies } = filled()
  expect(store.size).toBe(5)
  const later = restored(dumpMemory(store), START_MS + 2 * 3_600_000)
  expect(later.size).toBe(2)
  expect(take(later, 'key-0', policies[0] as Policy, 0).parts[0]?.remaining).toBe(1)
  expect(take(later, 'key-4', policies[4] as Policy, 0).parts[0]?.remaining).toBe(1)
})

test('if the clock was set back meanwhile, the store goes on by the clock of its dump', () => {
  jest.useFakeTimers({ now: START_MS, doNotFake: ['performance'] })
  try {
    const window = fixedWindow({ limit: 3, window: '1h', startsAt: 'first-request' })
    const store = memoryStore()
    const taken = take(store, 'a', window, 3)
    const bytes = dumpMemory(store)
    const next = (systemMs: number) => {
      jest.setSystemTime(systemMs)
      const another = memoryStore()
      restoreMemory(another, bytes)
      return take(another, 'a', window, 0)
    }
    const back = next(START_MS - 86_400_000)
    expect(back.atMs - taken.atMs).toBeGreaterThanOrEqual(0)
    expect(back.atMs - taken.atMs).toBeLessThan(60_000)
    expect(back.parts[0]?.remaining).toBe(0)
    expect(next(START_MS + 3_000_000).parts[0]?.remaining).toBe(0)
    expect(next(START_MS + 3_600_001).parts[0]?.remaining).toBe(3)
  } finally {
    jest.useRealTimers()
  }
})

test('a quota that was taken after the system clock was set back is kept until its day ends', () => {
  const midnightMs = Date.UTC(2030, 0, 2)
  jest.useFakeTimers({ now: midnightMs + 600_000, doNotFake: ['performance'] })
  try {
    const store = memoryStore()
    const ownMs = performance.timeOrigin + performance.now() // the clock of the store, which never steps
    const daily = quota({ limit: 3, per: 'day' })
    jest.setSystemTime(Math.floor(ownMs / 86_400_000) * 86_400_000 - 1000) // it was set back past midnight
    take(store, 'a', daily, 3)
    const next = memoryStore()
    restoreMemory(next, dumpMemory(store))
    expect(next.size).toBe(1)
    expect(take(next, 'a', daily, 1).allowed).toBe(false)
  } finally {
    jest.useRealTimers()
  }
})

test('documents and overflow buckets travel along', async () => {
  const store = memoryStore({ maxKeys: 1, clock: () => START_MS })
  await store.documents?.replace('settings', 'a text', undefined)
  const keys = ['hg:api:{a}', 'hg:api:{b}', 'hg:api:{c}']
  for (const key of keys) take(store, key, three, key === 'hg:api:{a}' ? 3 : 1)
  const next = restored(dumpMemory(store), START_MS, 1)
  expect((await next.documents?.read([{ key: 'settings' }]))?.[0]?.text).toBe('a text')
  expect(take(next, 'hg:api:{d}', three, 1)).toMatchObject({ allowed: true, parts: [{ remaining: 0 }] })
  expect(take(next, 'hg:api:{e}', three, 1).allowed).toBe(false)
})

describe('bytes that are refused', () => {
  const { store } = filled()
  const bytes = dumpMemory(store)

  test('of a dump with any byte changed leave the store empty and usable', () => {
    expect(restored(bytes).size).toBe(5)
    const target = memoryStore({ clock: () => START_MS })
    const failures = Array.from(bytes, (byte, at) =>
      [1, 0x80, 0xff].map((flipped) => {
        const damagedBytes = bytes.slice()
        damagedBytes[at] = byte ^ flipped
        return failureOf(() => restoreMemory(target, damagedBytes))
      }),
    ).flat()
    expect(failures.filter((failure) => !(failure instanceof TypeError))).toEqual([])
    expect(target.size).toBe(0)
    expect(take(target, 'a', three, 1).allowed).toBe(true)
  })

  test('of a dump that is cut off, at any length', () => {
    const failures = Array.from(bytes, (_, length) => failureOf(() => restored(bytes.slice(0, length))))
    const isExpected = (failure: unknown) => /^\w+: restoreMemory: the (bytes|dump)/.test(String(failure))
    expect(failures.filter((failure) => !isExpected(failure))).toEqual([])
    expect(() => restored(new Uint8Array([...bytes, 0, 0, 0, 0, 0, 0, 0, 0]))).toThrow(
      'damaged or incomplete',
    )
  })

  test.each<[unknown, string]>([
    [undefined, 'restoreMemory: the bytes are not a dump of a memory store'],
    ['text', 'restoreMemory: the bytes are not a dump of a memory store'],
    [new Uint8Array(100), 'restoreMemory: the bytes are not a dump of a memory store'],
    [Uint8Array.from(bytes, (byte, i) => (i === 4 ? 2 : byte)), 'the dump has format version 2, but this'],
  ])('such as %p', (given, message) => {
    expect(() => restored(given as Uint8Array)).toThrow(message)
  })

  test('because the store is in use, or too small', () => {
    const used = memoryStore()
    take(used, 'a', three, 1)
    expect(() => restoreMemory(used, bytes)).toThrow('restoreMemory: the store is in use.')
    expect(() => restored(bytes, START_MS, 4)).toThrow('the dump has 5 keys, but maxKeys of the store is 4.')
  })

  test('because the store is no memory store', () => {
    for (const call of [dumpMemory, (each: never) => restoreMemory(each, bytes)])
      expect(() => call({ name: 'redis', apply() {} } as never)).toThrow(
        'store must be a memoryStore, or the clusterStore of a primary',
      )
  })
})

// Once, restoreMemory looped for ever with 300,000 keys.
test.each([1, 2, 3, 1000, 2000, 10_000, 300_000])('a store of %d keys is restored', (keys) => {
  const clock = () => START_MS
  const store = memoryStore({ clock })
  const sample = Array.from({ length: Math.min(keys, 1000) }, (_, i) => Math.floor((i * keys) / 1000) % keys)
  const chargeOf = (i: number): Operation => ({
    type: 'charge',
    parts: [{ key: `key-${i}`, policy: three, cost: 1 + (i % 3) }],
  })
  store.apply(Array.from({ length: keys }, (_, i) => chargeOf(i)))
  const next = memoryStore({ clock })
  const bytes = dumpMemory(store)
  callWithin(10_000, () => restoreMemory(next, bytes))
  expect(next.size).toBe(keys)
  const remaining = sample.map((i) => take(next, `key-${i}`, three, 0).parts[0]?.remaining)
  expect(remaining).toEqual(sample.map((i) => 2 - (i % 3)))
})

test('a restored store that is full evicts no client at its limit, and takes no more than maxKeys', () => {
  const store = memoryStore({ clock: () => START_MS, maxKeys: 2000 })
  for (let i = 0; i < 2000; i++) take(store, `key-${i}`, three, i % 2 === 0 ? 3 : 1)
  const next = restored(dumpMemory(store), START_MS, 2000)
  const sizes = Array.from({ length: 5000 }, (_, i) => {
    take(next, `new-${i}`, three, 1)
    return next.size
  })
  expect(new Set(sizes)).toEqual(new Set([2000]))
  const clients = Array.from({ length: 1000 }, (_, i) => take(next, `key-${2 * i}`, three, 1).allowed)
  expect(new Set(clients)).toEqual(new Set([false]))
})

test('bytes may begin anywhere in a buffer, as those of files do', () => {
  const { store } = filled()
  const bytes = dumpMemory(store)
  const shifted = new Uint8Array(bytes.length + 3)
  shifted.set(bytes, 3)
  expect(restored(shifted.subarray(3)).size).toBe(5)
})
