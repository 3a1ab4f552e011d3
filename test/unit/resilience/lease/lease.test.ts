import { consecutive, fixedWindow, type MaybePromise, type Store, tokenBucket, type Verdict } from 'headgate'
import { allowed, chargeTimes, HOLD_MS, handedOut, leaseOn, RemoteStore, START_MS } from './lease-kit.js'

const hourly = fixedWindow({ limit: 3200, window: '1h' }) // blocks of up to 200
const bucket = tokenBucket({ capacity: 3200, refill: 3200, every: '1h' })

let remote: RemoteStore
let store: Store

beforeEach(() => {
  jest.useFakeTimers()
  remote = new RemoteStore()
  store = leaseOn(remote)
})
afterEach(() => jest.useRealTimers())

/** Lets time pass by all clocks. */
async function pass(ms: number): Promise<void> {
  remote.nowMs += ms
  await jest.advanceTimersByTimeAsync(ms)
}

const chargeOne = (cost = 1, policy = hourly): MaybePromise<readonly Verdict[]> =>
  store.charge([[{ key: 'key', policy, cost }]])

test('a key that is charged now and then is charged in the store, one by one', async () => {
  for (let i = 0; i < 30; i++) {
    expect(await chargeOne()).toMatchObject([{ allowed: true, parts: [{ remaining: 3199 - i }] }])
    await pass(HOLD_MS / 4)
  }
  expect(remote.asked).toHaveLength(30)
  expect(remote.remaining(hourly)).toBe(3170)
})

test('a key that is charged often takes blocks, larger and larger ones, and hands them out without a promise', async () => {
  const verdicts = await chargeTimes(store, hourly, 8)
  expect(handedOut(verdicts)).toBe(0)
  expect(remote.asked).toHaveLength(1)
  await chargeOne()
  expect(remote.asked).toHaveLength(2)
  expect(remote.remaining(hourly)).toBe(3200 - 9 - 9)
  for (let i = 0; i < 9; i++) {
    const here = chargeOne() as readonly Verdict[]
    expect(here).toMatchObject([{ allowed: true, source: 'lease', parts: [{ remaining: 3190 - i }] }])
  }
  await chargeOne()
  expect(remote.asked).toHaveLength(3)
  expect(remote.remaining(hourly)).toBe(3200 - 19 - 19)
})

test('a block is what the key needs in the hold, at most its share of the limit', async () => {
  await chargeTimes(store, hourly, 1000)
  await chargeTimes(store, hourly, 200) // uses up what is here
  await chargeOne()
  const used = 1201
  expect(3200 - used - remote.remaining(hourly)).toBeLessThanOrEqual(200)
  expect(3200 - used - remote.remaining(hourly)).toBeGreaterThan(100)
})

test('all together use exactly the limit, and those that come while a block is on its way wait for it', async () => {
  const verdicts: Verdict[] = []
  for (let i = 0; i < 50; i++) verdicts.push(...(await chargeTimes(store, hourly, 100)))
  expect(allowed(verdicts)).toBe(3200)
  expect(handedOut(verdicts)).toBeGreaterThan(4000)
  expect(remote.remaining(hourly)).toBe(0)
  expect(remote.asked.length).toBeLessThan(60)
})

test('charges are decided in the order in which they came', async () => {
  const verdicts = await chargeTimes(store, hourly, 5000)
  expect(verdicts.findIndex((verdict) => !verdict.allowed)).toBe(3200)
})

test('several processes together use exactly the limit', async () => {
  const stores = Array.from({ length: 4 }, () => leaseOn(remote, { processes: 4 }))
  let count = 0
  for (let round = 0; round < 20; round++) {
    const verdicts = await Promise.all(stores.map((each) => chargeTimes(each, hourly, 100)))
    count += verdicts.reduce((sum, each) => sum + allowed(each), 0)
  }
  expect(count).toBe(3200)
})

test('a process takes what the others have left, to the last unit', async () => {
  await remote.charge([[{ key: 'key', policy: hourly, cost: 3100 }]])
  expect(allowed(await chargeTimes(store, hourly, 500))).toBe(100)
  expect(remote.remaining(hourly)).toBe(0)
})

test('a denial tells what the store tells, and is repeated here until then, at most for the hold', async () => {
  await chargeTimes(store, hourly, 4000)
  const { length } = remote.asked
  const leftMs = 3_600_000 - (START_MS % 3_600_000)
  await pass(10)
  expect(chargeOne()).toMatchObject([
    { allowed: false, source: 'lease', parts: [{ remaining: 0, retryAfterMs: leftMs - 10, allowed: false }] },
  ])
  expect(remote.asked).toHaveLength(length)
  await pass(HOLD_MS)
  expect(await chargeOne()).toMatchObject([
    { allowed: false, parts: [{ retryAfterMs: leftMs - 10 - HOLD_MS }] },
  ])
  expect(remote.asked).toHaveLength(length + 1)
})

test('a denial of a fast bucket is repeated for a twentieth of the hold, and tells so', async () => {
  const fast = tokenBucket({ capacity: 3200, refill: 3200, every: 100 })
  await chargeTimes(store, fast, 4000)
  const { length } = remote.asked
  expect(chargeOne(1, fast)).toMatchObject([{ allowed: false, parts: [{ retryAfterMs: HOLD_MS / 20 }] }])
  await pass(HOLD_MS / 20)
  expect(await chargeOne(1, fast)).toMatchObject([{ allowed: true }])
  expect(remote.asked).toHaveLength(length + 1)
})

test('a refund ends a denial that is repeated here', async () => {
  await chargeTimes(store, hourly, 3200)
  expect(allowed(await chargeTimes(store, hourly, 1))).toBe(0)
  expect(handedOut(await chargeTimes(store, hourly, 1))).toBe(1)
  const one = { key: 'key', policy: hourly, cost: 1, takenAtMs: remote.nowMs }
  await store.refund([one])
  expect(allowed(await chargeTimes(store, hourly, 1))).toBe(1)
})

test('what is not used in the hold is given back', async () => {
  await chargeTimes(store, hourly, 100)
  expect(remote.remaining(hourly)).toBeLessThan(3100)
  await pass(2 * HOLD_MS)
  expect(remote.remaining(hourly)).toBe(3100)
  expect(remote.refunds).toHaveLength(1)
})

test('units of a bucket that misses much are given back, too; of one that misses little, its refill brings them', async () => {
  await chargeTimes(store, bucket, 1000)
  expect(remote.remaining(bucket)).toBeLessThan(2200)
  await pass(2 * HOLD_MS)
  expect(remote.remaining(bucket)).toBe(2200)
  remote = new RemoteStore()
  store = leaseOn(remote)
  await chargeTimes(store, bucket, 100)
  await pass(2 * HOLD_MS)
  expect(remote.refunds).toEqual([])
  expect(remote.remaining(bucket)).toBeGreaterThanOrEqual(3200 - 100 - 200)
})

test('at most a block for each process lies unused, and never for longer than the hold', async () => {
  const stores = Array.from({ length: 4 }, () => leaseOn(remote, { processes: 4 }))
  let used = 0
  for (let i = 0; i < 50; i++) {
    const each = stores[i % 4] as Store
    used += allowed(await chargeTimes(each, hourly, 1 + ((i * 7) % 40)))
    expect(3200 - remote.remaining(hourly) - used).toBeLessThanOrEqual(4 * (3200 / 16 / 4))
    await pass(3)
  }
  expect(3200 - remote.remaining(hourly) - used).toBeGreaterThan(0)
  await pass(2 * HOLD_MS)
  expect(3200 - remote.remaining(hourly)).toBe(used)
})

test('once nobody charges any more, no timer runs', async () => {
  await chargeTimes(store, hourly, 100)
  expect(jest.getTimerCount()).toBe(1)
  await pass(4 * HOLD_MS)
  expect(jest.getTimerCount()).toBe(0)
})

test('what is held keeps no process from ending', async () => {
  jest.useRealTimers()
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  await chargeTimes(store, hourly, 100)
  expect(handedOut(await chargeTimes(store, hourly, 1))).toBe(1)
  expect(timers()).toBe(before)
})

test('close gives back what is here and what is on its way, and closes the store', async () => {
  await chargeTimes(store, hourly, 100)
  const last = chargeTimes(store, hourly, 500)
  await store.close?.()
  expect(allowed(await last)).toBe(500)
  expect(remote.remaining(hourly)).toBe(2600)
  expect(remote.isClosed).toBe(true)
  await chargeTimes(store, hourly, 100)
  expect(remote.remaining(hourly)).toBe(2500)
})

test('forget drops what is here and what is on its way', async () => {
  await chargeTimes(store, hourly, 100)
  const last = chargeTimes(store, hourly, 300)
  await store.forget([{ key: 'key', policy: hourly }])
  expect(allowed(await last)).toBe(300)
  await store.forget([{ key: 'key', policy: hourly }])
  expect(await chargeOne()).toMatchObject([{ parts: [{ remaining: 3199 }] }])
  expect((await chargeOne())[0]?.source).toBeUndefined()
})

test('a unit that was handed out is given back as any other', async () => {
  await chargeTimes(store, hourly, 100)
  await pass(5)
  const [verdict] = (await chargeOne()) as readonly [Verdict]
  expect(verdict).toMatchObject({ source: 'lease', atMs: remote.nowMs })
  const before = remote.remaining(hourly)
  const { resetAfterMs = 0 } = verdict.parts[0] ?? {}
  const resetAtMs = verdict.atMs + resetAfterMs
  await store.refund([{ key: 'key', policy: hourly, cost: 1, takenAtMs: verdict.atMs, resetAtMs }])
  expect(remote.remaining(hourly)).toBe(before + 1)
})

test('larger costs take what they need, and none is admitted that the store would not have', async () => {
  const verdicts = await chargeTimes(store, hourly, 1000, 7)
  expect(allowed(verdicts)).toBe(Math.floor(3200 / 7))
  expect(await chargeOne(3)).toMatchObject([{ allowed: false }])
  expect(allowed(await chargeTimes(store, hourly, 3))).toBe(1)
})

test('what cannot be taken ahead passes through', async () => {
  const inARow = consecutive({ limit: 3200 })
  const small = fixedWindow({ limit: 31, window: '1h' })
  await chargeTimes(store, inARow, 50, 1, 'in a row')
  await chargeTimes(store, small, 20, 1, 'small')
  await chargeTimes(store, hourly, 50, 0, 'peeks')
  for (let i = 0; i < 50; i++) {
    const parts = ['a', 'b'].map((key) => ({ key, policy: hourly, cost: 1 }))
    await store.charge([parts])
  }
  expect(remote.asked.map(({ length }) => length)).toEqual([50, 20, 50, ...Array(50).fill(1)])
})

test('a block that was long on its way lapses, and what waited for it is answered all the same', async () => {
  await chargeTimes(store, hourly, 8)
  let open = () => {}
  remote.before = () => new Promise((resolve) => (open = resolve))
  const first = chargeTimes(store, hourly, 5)
  await pass(HOLD_MS + 1)
  remote.before = () => {}
  expect(await chargeOne()).toMatchObject([{ allowed: true }]) // it does not wait for what is stuck
  open()
  expect(allowed(await first)).toBe(5)
  await pass(4 * HOLD_MS)
  expect(remote.remaining(hourly)).toBe(3200 - 14)
})
