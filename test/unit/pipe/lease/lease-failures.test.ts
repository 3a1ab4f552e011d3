import { createLimiter, fixedWindow, leased, StoreError } from 'headgate'
import type { ChargeResult } from 'headgate/store'
import type { LeaseOptions } from '../../../../src/pipe/lease/options.js'
import { NONSENSE } from '../../../support/fault-stores.js'
import {
  allowedCount,
  beforeEachLease,
  chargeHundred,
  chargeTimes,
  leasedCount,
  leaseOn,
  type RemoteStore,
} from '../../../support/leased-store.js'
import { chargeStore } from '../../../support/store-calls.js'
import { recordWarnings } from '../../../support/warnings.js'

const hourly = fixedWindow({ limit: 3200, window: '1h' })
const lost = new StoreError('remote', 'connection lost')

let remote: RemoteStore

beforeEachLease((made) => {
  remote = made
})

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
    store: leased(remote, { processes: 1 }),
    key: () => 'all',
    onStoreError: 'deny',
  })
  const errors: unknown[] = []
  limiter.events.on('storeError', (error) => errors.push(error))
  for (let i = 0; i < 8; i++) await limiter.charge(undefined)
  remote.charge = async () => answer as ChargeResult[]
  const decisions = await Promise.all(Array.from({ length: 5 }, () => limiter.charge(undefined)))
  expect(decisions.map(({ source }) => source)).toEqual(Array(5).fill('fail-closed'))
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

describe('units that could not be returned', () => {
  const codes = recordWarnings()

  async function failToReturn(options: LeaseOptions): Promise<void> {
    const limiter = createLimiter({ policy: hourly, store: leased(remote, options), key: () => 'all' })
    for (let i = 0; i < 20; i++) await limiter.charge(undefined)
    remote.refund = () => Promise.reject(new Error('connection lost'))
    await limiter.close()
  }

  test('are passed to onReturnFailed, as a StoreError', async () => {
    const onReturnFailed = jest.fn()
    await failToReturn({ processes: 1, onReturnFailed })
    expect(onReturnFailed.mock.calls).toEqual([[expect.any(StoreError)]])
    expect(codes()).toEqual([])
  })

  test('are a process warning without onReturnFailed', async () => {
    await failToReturn({ processes: 1 })
    expect(codes()).toEqual(['HEADGATE_RETURN_FAILED'])
  })

  test('are a process warning where onReturnFailed throws', async () => {
    const onReturnFailed = () => {
      throw new Error('no logger')
    }
    await failToReturn({ processes: 1, onReturnFailed })
    expect(codes()).toEqual(['HEADGATE_LISTENER_FAILED'])
  })
})

test('a batch rejects if an operation may have been applied, and tells which was not if none was', async () => {
  const store = leaseOn(remote)
  const failWith = async (error: Error) => {
    remote.charge = () => Promise.reject(error)
    return store.apply([
      { type: 'charge', parts: [{ key: 'key', policy: hourly, cost: 1 }] },
      { type: 'forget', key: 'other', policy: hourly },
    ])
  }
  await expect(failWith(lost)).rejects.toBe(lost)
  for (const facts of [{ replied: true }, { unsent: true }]) {
    const error = new StoreError('remote', 'it is loading', facts)
    expect(await failWith(error)).toEqual([error, { type: 'forget' }])
  }
})

test('a limiter reports units that were leased, refunds them, and returns the rest of a block on close', async () => {
  const limiter = createLimiter({ policy: hourly, store: leased(remote, { processes: 1 }), key: () => 'all' })
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
    store: leased(remote, { processes: 1, hold: '10s' }),
    key: (key: string) => key,
    timeout: '50ms',
  })
  const states: string[] = []
  limiter.events.on('storeState', (state) => states.push(state)).on('storeError', () => {})
  for (let i = 0; i < 10; i++) await limiter.charge('hot')
  remote.before = () => new Promise(() => {})
  for (let i = 0; i < 6; i++) {
    const fresh = limiter.charge(`fresh ${i}`)
    expect(await limiter.charge('hot')).toMatchObject({ allowed: true, source: 'lease' })
    await jest.advanceTimersByTimeAsync(70)
    expect(await fresh).toMatchObject({ source: 'local' })
  }
  expect(states).toEqual(['open'])
})

test('a store that hangs is still closed, and its units are reported', async () => {
  const onReturnFailed = jest.fn()
  const store = leaseOn(remote, { onReturnFailed })
  await chargeHundred(store, hourly)
  remote.refund = () => new Promise(() => {})
  const closed = store.close?.()
  await jest.advanceTimersByTimeAsync(2000)
  await closed
  expect(remote.isClosed).toBe(true)
  expect(onReturnFailed).toHaveBeenCalledTimes(1)
  expect(onReturnFailed).toHaveBeenCalledWith(expect.any(StoreError))
})
