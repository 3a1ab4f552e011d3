import { consecutive, fixedWindow, type Store, tokenBucket } from 'headgate'
import type { Charge, ChargeResult, MaybePromise } from 'headgate/store'
import { limiterPipe } from '../../../../src/pipe/limiter-pipe.js'
import {
  allowedCount,
  beforeEachLease,
  chargeHundred,
  chargeTimes,
  HOLD_MS,
  leasedCount,
  leaseOn,
  pass,
  RemoteStore,
} from '../../../support/leased-store.js'
import { chargeStore, forgetStore, refundStore } from '../../../support/store-calls.js'

const hourly = fixedWindow({ limit: 3200, window: '1h' }) // blocks of up to 200
const bucket = tokenBucket({ capacity: 3200, refill: 3200, every: '1h' })

let remote: RemoteStore
let store: Store

beforeEachLease((...made) => {
  ;[remote, store] = made
})

const chargeOne = (cost = 1, policy = hourly): MaybePromise<readonly ChargeResult[]> =>
  chargeStore(store, [[{ key: 'key', policy, cost }]])

/** Returns how many units the store has given out, unused ones included. */
const taken = (policy = hourly) => 3200 - remote.remaining(policy)

test('a key that is charged now and then is charged in the store, one by one', async () => {
  for (let i = 0; i < 30; i++) {
    expect(await chargeOne()).toMatchObject([{ allowed: true, parts: [{ remaining: 3199 - i }] }])
    await pass(remote, HOLD_MS / 4)
  }
  expect(remote.batches).toHaveLength(30)
  expect(taken()).toBe(30)
})

test('a hot key acquires blocks, larger and larger ones, which are consumed without a promise', async () => {
  expect(leasedCount(await chargeTimes(store, hourly, 8))).toBe(0)
  expect(remote.batches).toHaveLength(1)
  await chargeTimes(store, hourly, 2)
  expect(remote.batches).toHaveLength(2)
  expect(taken()).toBe(9 + 9)
  for (let i = 0; i < 8; i++) {
    const verdicts = chargeOne() as readonly ChargeResult[]
    const parts = [{ allowed: true, remaining: 3189 - i }]
    expect(verdicts).toMatchObject([{ allowed: true, source: 'lease', parts }])
  }
  await chargeTimes(store, hourly, 2)
  expect(remote.batches).toHaveLength(3)
  expect(taken()).toBe(19 + 19)
})

test('a block is what the key was charged in the hold, at most its share of the limit', async () => {
  await chargeTimes(store, hourly, 50)
  await chargeTimes(store, hourly, 2)
  expect(taken()).toBe(51 + 51)
  await chargeTimes(store, hourly, 1000)
  const used = taken()
  await chargeTimes(store, hourly, 2)
  expect(taken() - used).toBe(1 + 200)
})

test('units that are consumed by a local decision count for the size of the next block', async () => {
  await chargeHundred(store, hourly)
  const pipe = limiterPipe(store, { timeoutMs: 100, denyCacheMs: 0 })
  for (let i = 0; i < 20; i++) {
    const charge: Charge = { type: 'charge', parts: [{ key: 'key', policy: hourly, cost: 1 }] }
    expect(pipe.send(charge, () => {})).toMatchObject({ allowed: true, source: 'lease' })
  }
  expect(taken()).toBe(122)
  await chargeTimes(store, hourly, 3)
  expect(taken()).toBe(122 + 1 + 123)
})

test('a peek is decided by the store, which counts the units that are held as taken', async () => {
  await chargeHundred(store, hourly)
  const [verdict] = (await chargeOne(0)) as readonly [ChargeResult]
  expect(verdict).toMatchObject({ allowed: true, parts: [{ remaining: 3200 - 122 }] })
  expect(verdict.source).toBeUndefined()
})

test('all units of the limit are used, and charges that come while a block is on its way wait for it', async () => {
  const verdicts: ChargeResult[] = []
  for (let i = 0; i < 50; i++) verdicts.push(...(await chargeTimes(store, hourly, 100)))
  expect(allowedCount(verdicts)).toBe(3200)
  expect(leasedCount(verdicts)).toBeGreaterThan(2800)
  expect(remote.remaining(hourly)).toBe(0)
  expect(remote.batches.length).toBeLessThan(60)
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
    count += verdicts.reduce((sum, each) => sum + allowedCount(each), 0)
  }
  expect(count).toBe(3200)
})

test('a process takes what the others have left, to the last unit', async () => {
  await remote.charge([[{ key: 'key', policy: hourly, cost: 3100 }]])
  expect(allowedCount(await chargeTimes(store, hourly, 500))).toBe(100)
  expect(remote.remaining(hourly)).toBe(0)
})

test('after the store denied a block, charges go to the store one by one for the hold', async () => {
  await chargeHundred(store, hourly)
  await remote.charge([[{ key: 'key', policy: hourly, cost: 3200 - taken() - 10 }]])
  expect(allowedCount(await chargeTimes(store, hourly, 100))).toBe(22 + 10)
  const { length } = remote.batches
  await pass(remote, HOLD_MS - 1)
  const verdicts = await chargeTimes(store, hourly, 5)
  expect(remote.batches.slice(length).map((charges) => charges.length)).toEqual([5])
  expect(allowedCount(verdicts) + leasedCount(verdicts)).toBe(0)
  await pass(remote, 1)
  await chargeOne()
  expect(remote.batches.at(-1)).toMatchObject([[{ cost: 1 }], [{ cost: 200 }]])
})

test('after a denial, a bucket is leased again as soon as the store has a block', async () => {
  const fast = tokenBucket({ capacity: 3200, refill: 3200, every: '320ms' })
  await chargeTimes(store, fast, 4000)
  expect(allowedCount(await chargeTimes(store, fast, 1))).toBe(0)
  await pass(remote, 19)
  expect(leasedCount(await chargeTimes(store, fast, 3))).toBe(0)
  await pass(remote, 2)
  expect(leasedCount(await chargeTimes(store, fast, 3))).toBe(2)
})

test('units that are not used in the hold are returned', async () => {
  await chargeHundred(store, hourly)
  expect(taken()).toBe(122)
  await pass(remote, 2 * HOLD_MS)
  expect(taken()).toBe(100)
  expect(remote.refunds).toHaveLength(1)
})

test('units of a bucket that misses much are returned, too; of one that misses little, the refill brings them', async () => {
  await chargeTimes(store, bucket, 900)
  await chargeHundred(store, bucket)
  expect(taken(bucket)).toBeGreaterThan(1000)
  await pass(remote, 2 * HOLD_MS)
  expect(taken(bucket)).toBe(1000)
  remote = new RemoteStore()
  store = leaseOn(remote)
  await chargeHundred(store, bucket)
  expect(taken(bucket)).toBe(122)
  await pass(remote, 2 * HOLD_MS)
  expect(remote.refunds).toEqual([])
  expect(taken(bucket)).toBe(122)
})

test('each process holds at most one block unused, and never for longer than the hold', async () => {
  const stores = Array.from({ length: 4 }, () => leaseOn(remote, { processes: 4 }))
  let used = 0
  for (let i = 0; i < 50; i++) {
    const each = stores[i % 4] as Store
    used += allowedCount(await chargeTimes(each, hourly, 1 + ((i * 7) % 40)))
    expect(taken() - used).toBeLessThanOrEqual(4 * (3200 / 16 / 4))
    await pass(remote, 3)
  }
  expect(taken() - used).toBeGreaterThan(0)
  await pass(remote, 2 * HOLD_MS)
  expect(taken()).toBe(used)
})

test('once charges stop, no timer runs', async () => {
  await chargeHundred(store, hourly)
  expect(jest.getTimerCount()).toBe(1)
  await pass(remote, 4 * HOLD_MS)
  expect(jest.getTimerCount()).toBe(0)
})

test('held units keep no process from ending', async () => {
  jest.useRealTimers()
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  await chargeHundred(store, hourly)
  expect(leasedCount(await chargeTimes(store, hourly, 1))).toBe(1)
  expect(timers()).toBe(before)
})

test('close returns the units that are held or on their way, and closes the store', async () => {
  await chargeHundred(store, hourly)
  const last = chargeTimes(store, hourly, 500)
  await store.close?.()
  expect(allowedCount(await last)).toBe(500)
  expect(taken()).toBe(600)
  expect(remote.isClosed).toBe(true)
})

test('charges after close, as of another limiter, are decided, and units that they leave are returned', async () => {
  await chargeHundred(store, hourly)
  await store.close?.()
  const verdicts = await chargeTimes(store, hourly, 100)
  expect(allowedCount(verdicts)).toBe(100)
  expect(leasedCount(verdicts)).toBeGreaterThan(0)
  await pass(remote, 2 * HOLD_MS)
  expect(taken()).toBe(200)
})

test('forget drops the units that are held or on their way', async () => {
  await chargeHundred(store, hourly)
  const last = chargeTimes(store, hourly, 300)
  await forgetStore(store, [{ key: 'key', policy: hourly }])
  expect(allowedCount(await last)).toBe(300)
  await forgetStore(store, [{ key: 'key', policy: hourly }])
  expect(await chargeOne()).toMatchObject([{ parts: [{ remaining: 3199 }] }])
  expect((await chargeOne())[0]?.source).toBeUndefined()
})

test('a unit of a block is refunded like any other', async () => {
  await chargeHundred(store, hourly)
  await pass(remote, 5)
  const [verdict] = (await chargeOne()) as readonly [ChargeResult]
  expect(verdict).toMatchObject({ source: 'lease', atMs: remote.nowMs })
  const before = remote.remaining(hourly)
  const { resetAfterMs = 0 } = verdict.parts[0] ?? {}
  const resetAtMs = verdict.atMs + resetAfterMs
  await refundStore(store, [{ key: 'key', policy: hourly, cost: 1, takenAtMs: verdict.atMs, resetAtMs }])
  expect(remote.remaining(hourly)).toBe(before + 1)
})

test('larger costs take what they need, and none is admitted that the store would have denied', async () => {
  const verdicts = await chargeTimes(store, hourly, 1000, 7)
  expect(allowedCount(verdicts)).toBe(Math.floor(3200 / 7))
  expect(await chargeOne(3)).toMatchObject([{ allowed: false }])
  expect(allowedCount(await chargeTimes(store, hourly, 3))).toBe(1)
})

test('a cost above the largest block acquires none', async () => {
  for (let i = 0; i < 3; i++) await chargeTimes(store, hourly, 1, 201)
  expect(taken()).toBe(603)
})

test('a charge that cannot be prepaid goes to the store', async () => {
  const inARow = consecutive({ limit: 3200 })
  const small = fixedWindow({ limit: 31, window: '1h' })
  await chargeTimes(store, inARow, 50, 1, 'in a row')
  await chargeTimes(store, small, 20, 1, 'small')
  await chargeTimes(store, hourly, 50, 0, 'peeks')
  for (let i = 0; i < 50; i++) {
    const parts = ['a', 'b'].map((key) => ({ key, policy: hourly, cost: 1 }))
    await chargeStore(store, [parts])
  }
  expect(remote.batches.map(({ length }) => length)).toEqual([50, 20, 50, ...Array(50).fill(1)])
})

test('a block that was long on its way expires, and charges that wait for it are decided by the store', async () => {
  await chargeTimes(store, hourly, 8)
  let open = () => {}
  remote.before = () => new Promise((resolve) => (open = resolve))
  const first = chargeTimes(store, hourly, 5)
  await pass(remote, HOLD_MS + 1)
  remote.before = () => {}
  expect(await chargeOne()).toMatchObject([{ allowed: true }]) // does not wait for the block
  open()
  expect(allowedCount(await first)).toBe(5)
  await pass(remote, 4 * HOLD_MS)
  expect(taken()).toBe(14)
})
