import { createLimiter, fixedWindow, StoreError, type Verdict } from 'headgate'
import { NONSENSE } from '../../../support/fault-stores.js'
import { chargeStore } from '../../../support/store-calls.js'
import {
  allowedCount,
  chargeHundred,
  chargeTimes,
  leasedCount,
  leaseOn,
  RemoteStore,
} from './remote-store.js'

const hourly = fixedWindow({ limit: 3200, window: '1h' })
const lost = new StoreError('remote', 'connection lost')

let remote: RemoteStore

beforeEach(() => {
  jest.useFakeTimers()
  remote = new RemoteStore()
})
afterEach(() => jest.useRealTimers())

test('if the store fails, all charges that wait for a block fail, and the next one calls it again', async () => {
  const store = leaseOn(remote)
  await chargeTimes(store, hourly, 8)
  remote.before = () => Promise.reject(lost)
  const answers = Array.from({ length: 5 }, () =>
    chargeStore(store, [[{ key: 'key', policy: hourly, cost: 1 }]]),
  )
  const outcomes = await Promise.allSettled(answers)
  expect(outcomes.map((outcome) => 'reason' in outcome && outcome.reason)).toEqual(Array(5).fill(lost))
  remote.before = () => {}
  expect(allowedCount(await chargeTimes(store, hourly, 5))).toBe(5)
})

test('if only the block fails, the store decides the charges that wait for it', async () => {
  const store = leaseOn(remote)
  await chargeTimes(store, hourly, 8)
  const charge = remote.charge.bind(remote)
  remote.charge = async (charges) => {
    if ((charges[0]?.[0]?.cost ?? 0) > 1) throw lost
    return charge(charges)
  }
  const verdicts = await chargeTimes(store, hourly, 5)
  expect(allowedCount(verdicts)).toBe(5)
  expect(leasedCount(verdicts)).toBe(0)
  expect(remote.remaining(hourly)).toBe(3200 - 13)
})

test.each(NONSENSE)('an answer that is %s is a StoreError, and grants no block', async (_what, answer) => {
  const limiter = createLimiter({
    policy: hourly,
    store: remote,
    key: () => 'all',
    lease: { processes: 1 },
    onStoreError: 'deny',
  })
  const errors: unknown[] = []
  limiter.events.on('storeError', (error) => errors.push(error))
  for (let i = 0; i < 8; i++) await limiter.charge(undefined)
  remote.charge = async () => answer as Verdict[]
  const decisions = await Promise.all(Array.from({ length: 5 }, () => limiter.charge(undefined)))
  expect(decisions.map(({ source }) => source)).toEqual(Array(5).fill('closed'))
  expect(errors).toEqual(Array(errors.length).fill(expect.any(StoreError)))
  expect(errors.length).toBeGreaterThan(0)
})

test('units that could not be returned are reported', async () => {
  const onReturnFailed = jest.fn()
  const store = leaseOn(remote, { onReturnFailed })
  await chargeHundred(store, hourly)
  remote.refund = () => Promise.reject(lost)
  await store.close?.()
  expect(onReturnFailed).toHaveBeenCalledWith(lost)
})

test('a limiter reports units that were leased, refunds them, and returns the rest of a block on close', async () => {
  const limiter = createLimiter({ policy: hourly, store: remote, key: () => 'all', lease: { processes: 1 } })
  for (let i = 0; i < 9; i++) expect((await limiter.charge(undefined)).source).toBe('store')
  const decision = await limiter.charge(undefined)
  expect(decision).toMatchObject({ allowed: true, source: 'lease', remaining: 3190 })
  await limiter.refund(decision)
  await limiter.close()
  expect((await limiter.peek(undefined)).remaining).toBe(3191)
})

test('charges of leased units do not hide that the store hangs', async () => {
  const limiter = createLimiter({
    policy: hourly,
    store: remote,
    key: (key: string) => key,
    lease: { processes: 1, hold: '10s' },
    timeoutMs: 50,
  })
  const states: string[] = []
  limiter.events.on('storeState', (state) => states.push(state)).on('storeError', () => {})
  for (let i = 0; i < 10; i++) await limiter.charge('hot')
  remote.before = () => new Promise(() => {})
  for (let i = 0; i < 6; i++) {
    const fresh = limiter.charge(`fresh ${i}`)
    expect(limiter.charge('hot')).toMatchObject({ allowed: true, source: 'lease' })
    await jest.advanceTimersByTimeAsync(70)
    expect(await fresh).toMatchObject({ source: 'open' })
  }
  expect(states).toEqual(['open'])
})

test('a store that hangs is still closed', async () => {
  const store = leaseOn(remote)
  await chargeHundred(store, hourly)
  remote.refund = () => new Promise(() => {})
  const closed = store.close?.()
  await jest.advanceTimersByTimeAsync(2000)
  await closed
  expect(remote.isClosed).toBe(true)
})
