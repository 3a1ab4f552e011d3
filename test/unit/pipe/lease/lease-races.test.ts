import { fixedWindow, type Store } from 'headgate'
import type { KeyedPolicy } from 'headgate/store'
import {
  allowedCount,
  beforeEachLease,
  chargeTimes,
  HOLD_MS,
  pass,
  type RemoteStore,
} from '../../../support/leased-store.js'
import { forgetStore, refundStore } from '../../../support/store-calls.js'

const LIMIT = 3200
const hourly = fixedWindow({ limit: LIMIT, window: '1h' }) // blocks of up to 200
const keyed: KeyedPolicy = { key: 'key', policy: hourly }

let remote: RemoteStore
let store: Store

beforeEachLease((...made) => {
  ;[remote, store] = made
})

/** Delays the store's answers, though not its decisions. Returns a function that lets them arrive. */
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

/** Charges a hot key so many times, whose next block the store has allowed, but not yet answered. */
async function chargeBeforeBlock(times: number) {
  await chargeTimes(store, hourly, 100)
  await pass(remote, 4 * HOLD_MS)
  await chargeTimes(store, hourly, 8)
  const release = delayAnswers()
  const charges = chargeTimes(store, hourly, times)
  await untilDecided()
  return { release, charges }
}

const used = () => LIMIT - remote.remaining(hourly)

describe('while a block is on its way', () => {
  test('forget voids its units, and later charges go to the store', async () => {
    const { release, charges: first } = await chargeBeforeBlock(1)
    expect(used()).toBeGreaterThan(109) // the block is taken, too
    const waiting = chargeTimes(store, hourly, 5)
    await forgetStore(store, [keyed])
    expect(used()).toBe(0)
    release()
    expect(allowedCount(await first)).toBe(1)
    expect(allowedCount(await waiting)).toBe(5)
    expect(used()).toBe(5)
    await pass(remote, 4 * HOLD_MS)
    expect(used()).toBe(5)
    expect(allowedCount(await chargeTimes(store, hourly, LIMIT + 100))).toBe(LIMIT - 5)
  })

  test('a refund counts for charges that wait for a block that the store denied', async () => {
    await chargeTimes(store, hourly, LIMIT)
    await pass(remote, HOLD_MS)
    const release = delayAnswers()
    const denied = chargeTimes(store, hourly, 1)
    await untilDecided()
    const waiting = chargeTimes(store, hourly, 3)
    await refundStore(store, [{ ...keyed, cost: 2, takenAtMs: remote.nowMs }])
    release()
    expect(allowedCount(await denied)).toBe(0)
    expect(allowedCount(await waiting)).toBe(2)
  })
})

test('close waits for blocks on their way, returns their unused units, and then closes the store', async () => {
  const { release, charges: last } = await chargeBeforeBlock(3)
  let usedAtClose: number | undefined
  remote.close = async () => {
    usedAtClose = used()
  }
  const closed = store.close?.()
  await pass(remote, 10)
  expect(usedAtClose).toBeUndefined()
  release()
  await closed
  expect(allowedCount(await last)).toBe(3)
  expect(usedAtClose).toBe(111)
})
