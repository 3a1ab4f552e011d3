import { createLimiter, fixedWindow, StoreError, type Verdict } from 'headgate'
import { NONSENSE } from '../../../support/fault-stores.js'
import { allowed, chargeTimes, HOLD_MS, leaseOn, RemoteStore } from './lease-kit.js'

const hourly = fixedWindow({ limit: 3200, window: '1h' })
const lost = new StoreError('remote', 'connection lost')

let remote: RemoteStore

beforeEach(() => {
  jest.useFakeTimers()
  remote = new RemoteStore()
})
afterEach(() => jest.useRealTimers())

test('where a block cannot be taken, all that wait for it fail, and the next charge asks again', async () => {
  const store = leaseOn(remote)
  await chargeTimes(store, hourly, 8)
  remote.before = () => Promise.reject(lost)
  const answers = Array.from({ length: 5 }, () => store.charge([[{ key: 'key', policy: hourly, cost: 1 }]]))
  const outcomes = await Promise.allSettled(answers)
  expect(outcomes.map((outcome) => 'reason' in outcome && outcome.reason)).toEqual(Array(5).fill(lost))
  remote.before = () => {}
  expect(allowed(await chargeTimes(store, hourly, 5))).toBe(5)
})

test.each(NONSENSE)('an answer that is %s is a StoreError to all that wait', async (_what, answer) => {
  const store = leaseOn(remote)
  await chargeTimes(store, hourly, 8)
  remote.charge = async () => answer as Verdict[]
  await expect(chargeTimes(store, hourly, 5)).rejects.toThrow(StoreError)
})

test('units that could not be given back are told of', async () => {
  const onNotGivenBack = jest.fn()
  const store = leaseOn(remote, { onNotGivenBack })
  await chargeTimes(store, hourly, 100)
  remote.refund = () => Promise.reject(lost)
  await store.close?.()
  expect(onNotGivenBack).toHaveBeenCalledWith(lost)
})

test('what a block takes for a charge that has been given up goes back, once', async () => {
  const limiter = createLimiter({
    policy: hourly,
    store: remote,
    key: () => 'all',
    lease: { processes: 1 },
    onStoreError: 'deny',
    timeoutMs: 50,
  })
  limiter.events.on('storeError', () => {})
  for (let i = 0; i < 8; i++) await limiter.charge(undefined)
  let open = () => {}
  remote.before = () => new Promise((resolve) => (open = resolve))
  const late = Promise.all(Array.from({ length: 4 }, () => limiter.charge(undefined)))
  await jest.advanceTimersByTimeAsync(80)
  expect((await late).map(({ source }) => source)).toEqual(Array(4).fill('closed'))
  remote.before = () => {}
  open()
  await jest.advanceTimersByTimeAsync(0)
  remote.nowMs += 2 * HOLD_MS
  await jest.advanceTimersByTimeAsync(2 * HOLD_MS)
  await limiter.close()
  const { remaining } = await limiter.peek(undefined)
  expect(remaining).toBe(3200 - 8)
})

test('a limiter tells what was handed out, gives it back, and on close all that is held', async () => {
  const limiter = createLimiter({ policy: hourly, store: remote, key: () => 'all', lease: { processes: 1 } })
  for (let i = 0; i < 9; i++) expect((await limiter.charge(undefined)).source).toBe('store')
  const decision = await limiter.charge(undefined)
  expect(decision).toMatchObject({ allowed: true, source: 'lease', remaining: 3190 })
  await limiter.refund(decision)
  await limiter.close()
  expect((await limiter.peek(undefined)).remaining).toBe(3191)
})

test('where some of what is asked at once fails, the rest counts, once', async () => {
  const charge = remote.charge.bind(remote)
  remote.charge = async (charges) => {
    if (charges.length === 1 && charges[0]?.[0]?.cost === 2) throw lost
    return charge(charges)
  }
  const store = leaseOn(remote)
  await chargeTimes(store, hourly, 8)
  let open = () => {}
  remote.before = () => new Promise((resolve) => (open = resolve))
  const costs = Array.from({ length: 41 }, (_, i) => (i === 20 ? 2 : 1))
  const outcomes = Promise.allSettled(
    costs.map((cost) => store.charge([[{ key: 'key', policy: hourly, cost }]])),
  )
  await Promise.resolve()
  remote.before = () => {}
  open()
  expect((await outcomes).map(({ status }) => status === 'fulfilled')).toEqual(
    costs.map((cost) => cost === 1),
  )
  await store.close?.()
  expect(remote.remaining(hourly)).toBe(3200 - 8 - 40)
})

test('what is handed out says nothing of a store that hangs', async () => {
  const limiter = createLimiter({
    policy: hourly,
    store: remote,
    key: (key: string) => key,
    lease: { processes: 1, hold: '10s' },
    timeoutMs: 50,
  })
  const states: string[] = []
  limiter.events.on('storeState', (state) => states.push(state)).on('storeError', () => {})
  for (let i = 0; i < 9; i++) await limiter.charge('hot')
  remote.before = () => new Promise(() => {})
  for (let i = 0; i < 6; i++) {
    const fresh = limiter.charge(`fresh ${i}`)
    expect(limiter.charge('hot')).toMatchObject({ allowed: true, source: 'lease' })
    await jest.advanceTimersByTimeAsync(70)
    expect(await fresh).toMatchObject({ source: 'open' })
  }
  expect(states).toEqual(['open'])
})

test('a store that hangs is closed all the same', async () => {
  const store = leaseOn(remote)
  await chargeTimes(store, hourly, 100)
  remote.refund = () => new Promise(() => {})
  const closed = store.close?.()
  await jest.advanceTimersByTimeAsync(2000)
  await closed
  expect(remote.isClosed).toBe(true)
})
