import { fixedWindow, type KeyedPolicy, type Refund, type Store, StoreError } from 'headgate'
import { allowed, chargeTimes, HOLD_MS, leaseOn, RemoteStore } from './lease-kit.js'

const LIMIT = 3200
const hourly = fixedWindow({ limit: LIMIT, window: '1h' }) // blocks of up to 200
const held: KeyedPolicy = { key: 'key', policy: hourly }

let remote: RemoteStore
let store: Store

beforeEach(() => {
  jest.useFakeTimers()
  remote = new RemoteStore()
  store = leaseOn(remote)
})
afterEach(() => jest.useRealTimers())

/** The store decides charges as ever, but its answers arrive only once the returned function is called. */
function delayAnswers(): () => void {
  const charge = remote.charge.bind(remote)
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  remote.charge = async (charges) => {
    const verdicts = await charge(charges)
    await released
    return verdicts
  }
  return () => {
    remote.charge = charge
    release()
  }
}

const untilDecided = () => jest.advanceTimersByTimeAsync(0)

/** Lets time pass by all clocks, so that unused units are returned. */
async function pass(ms: number): Promise<void> {
  remote.nowMs += ms
  await jest.advanceTimersByTimeAsync(ms)
}

const used = () => LIMIT - remote.remaining(hourly)

const refundOf = (cost: number): Refund => ({ ...held, cost, takenAtMs: remote.nowMs })

describe('while the store’s answer is on its way', () => {
  test('forget voids the units in it: what is admitted afterwards is charged anew', async () => {
    await chargeTimes(store, hourly, 100)
    await pass(4 * HOLD_MS)
    await chargeTimes(store, hourly, 8)
    const release = delayAnswers()
    const first = chargeTimes(store, hourly, 1)
    await untilDecided()
    expect(used()).toBeGreaterThan(109) // the answer brings more than the one unit
    const waiting = chargeTimes(store, hourly, 5)
    await store.forget([held])
    expect(used()).toBe(0)
    release()
    expect(allowed(await first)).toBe(1)
    expect(allowed(await waiting)).toBe(5)
    expect(used()).toBe(5)
    await pass(4 * HOLD_MS)
    expect(used()).toBe(5)
    expect(allowed(await chargeTimes(store, hourly, LIMIT + 100))).toBe(LIMIT - 5)
  })

  test('a refund ends the denial in it', async () => {
    await chargeTimes(store, hourly, LIMIT)
    await pass(HOLD_MS)
    expect(used()).toBe(LIMIT)
    const release = delayAnswers()
    const denied = chargeTimes(store, hourly, 1)
    await untilDecided()
    await store.refund([refundOf(1)])
    release()
    expect(allowed(await denied)).toBe(0)
    expect(await chargeTimes(store, hourly, 1)).toMatchObject([{ allowed: true }])
    expect(used()).toBe(LIMIT)
  })

  test('a refund ends the denial in it for charges that wait, too', async () => {
    await chargeTimes(store, hourly, LIMIT)
    await pass(HOLD_MS)
    const release = delayAnswers()
    const denied = chargeTimes(store, hourly, 1)
    await untilDecided()
    const waiting = chargeTimes(store, hourly, 3)
    await store.refund([refundOf(2)])
    release()
    expect(allowed(await denied)).toBe(0)
    expect(allowed(await waiting)).toBe(2)
  })
})

test('close waits for answers on their way, returns their unused units, and then closes the store', async () => {
  await chargeTimes(store, hourly, 100)
  await pass(4 * HOLD_MS)
  await chargeTimes(store, hourly, 8)
  const release = delayAnswers()
  const last = chargeTimes(store, hourly, 3)
  await untilDecided()
  let usedAtClose: number | undefined
  remote.close = async () => {
    usedAtClose = used()
  }
  const closed = store.close?.()
  await pass(10)
  expect(usedAtClose).toBeUndefined()
  release()
  await closed
  expect(allowed(await last)).toBe(3)
  expect(usedAtClose).toBe(111)
})

test('a denial that was decided while a refund was on its way is not repeated after it', async () => {
  await chargeTimes(store, hourly, LIMIT)
  await pass(HOLD_MS)
  const refund = remote.refund.bind(remote)
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  remote.refund = async (refunds) => {
    await released
    await refund(refunds)
  }
  const refunded = store.refund([refundOf(1)])
  await pass(1)
  const [denied] = await chargeTimes(store, hourly, 1)
  expect(denied?.allowed).toBe(false)
  await pass(1)
  release()
  await refunded
  expect(await chargeTimes(store, hourly, 1)).toMatchObject([{ allowed: true }])
})

test('a refund whose answer is lost ends the denial that is repeated: it may have counted', async () => {
  await chargeTimes(store, hourly, LIMIT)
  await pass(HOLD_MS)
  expect(allowed(await chargeTimes(store, hourly, 2))).toBe(0)
  const refund = remote.refund.bind(remote)
  remote.refund = async (refunds) => {
    await refund(refunds)
    throw new StoreError('remote', 'connection lost')
  }
  await expect(store.refund([refundOf(1)])).rejects.toThrow('connection lost')
  expect(await chargeTimes(store, hourly, 1)).toMatchObject([{ allowed: true }])
})
