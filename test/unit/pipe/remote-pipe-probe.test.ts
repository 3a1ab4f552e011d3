import { createLimiter, type StoreError, tokenBucket } from 'headgate'
import { type Charge, type ChargeResult, customStore, type Operation, type Outcome } from 'headgate/store'
import { CircuitOpenError } from '../../../src/pipe/errors.js'
import { request } from '../../../src/pipe/pipe.js'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { storeThat } from '../../support/fault-stores.js'
import { chargePipe, remotePipe } from '../../support/remote-pipe.js'

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
const charge: Parts = [{ key: 'key', policy, cost: 1 }]
const part = { allowed: true, remaining: 4, resetAfterMs: 100, retryAfterMs: 0, moreAfterMs: 100 }
const verdict: ChargeResult = { type: 'charge', allowed: true, atMs: 1_790_000_000_000, parts: [part] }
/** What the store answers to an operation. */
const resultOf = (operation: Operation | undefined): Outcome =>
  operation?.type === 'charge' ? verdict : ({ type: operation?.type } as Outcome)

const TIMEOUT_MS = 100
const TIMED_OUT = { name: 'StoreError', message: expect.stringContaining('no reply within') }

const chargeIt: Charge = { type: 'charge', parts: charge }
const refund: Operation = { type: 'refund', key: 'key', policy, cost: 1, takenAtMs: 0 }

/** What a request ended in, and after how many milliseconds. */
interface Ended {
  value?: unknown
  afterMs?: number
}

/**
 * A pipe whose breaker has opened and whose pause is over, so that the next request probes it. From
 * then on it answers its requests in order after as many milliseconds as `latencies` says; `'fails'` rejects
 * at once, and what is not listed hangs.
 */
async function recovering(...latencies: (number | 'fails')[]) {
  let left: (number | 'fails')[] | undefined
  const requests = jest.fn(([operation]: readonly Operation[]): Promise<readonly Outcome[]> => {
    const latency = left?.shift()
    if (left === undefined || latency === 'fails') return Promise.reject(new Error('connection refused'))
    return new Promise((resolve) => {
      if (latency !== undefined) setTimeout(resolve, latency, [resultOf(operation)])
    })
  })
  const states: string[] = []
  const pipe = remotePipe(customStore({ name: 'fake', apply: requests }), {
    timeoutMs: TIMEOUT_MS,
    onChange: (state) => states.push(state),
  })
  for (let i = 0; i < 20; i++) await Promise.resolve(chargePipe(pipe, charge)).catch(() => undefined)
  await jest.advanceTimersByTimeAsync(1001)
  left = [...latencies]
  requests.mockClear()
  states.length = 0

  function begin(operation: Operation = chargeIt): Ended {
    const outcome: Ended = {}
    const fromMs = performance.now()
    const end = (value: unknown) => {
      outcome.value = value
      outcome.afterMs = Math.round(performance.now() - fromMs)
    }
    new Promise((resolve) => resolve(request(pipe, operation))).then(end, end)
    return outcome
  }

  const burst = (count: number) => Array.from({ length: count }, () => begin())
  return { pipe, requests, states, begin, burst }
}

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

test.each([40, 200])(
  'of a burst of %d calls one is the probe, and its success lets the others through',
  async (count) => {
    const { requests, states, burst } = await recovering(30, ...Array(count - 1).fill(5))
    const outcomes = burst(count)
    await jest.advanceTimersByTimeAsync(29)
    expect(requests).toHaveBeenCalledTimes(1)
    expect(states).toEqual(['half-open'])
    await jest.advanceTimersByTimeAsync(10)
    expect(requests).toHaveBeenCalledTimes(count)
    expect(new Set(outcomes.map(({ value }) => value))).toEqual(new Set([verdict]))
    expect(states).toEqual(['half-open', 'closed'])
  },
)

test.each<[string, Operation]>([
  ['peek', { type: 'charge', parts: [{ key: 'key', policy, cost: 0 }] }],
  ['refund', refund],
  ['forget', { type: 'forget', key: 'key', policy }],
])('a %s waits for the probe as a charge does', async (_what, operation) => {
  const { requests, begin } = await recovering(30, 5)
  begin()
  const outcome = begin(operation)
  await jest.advanceTimersByTimeAsync(29)
  expect(requests).toHaveBeenCalledTimes(1)
  await jest.advanceTimersByTimeAsync(6)
  expect(requests).toHaveBeenCalledTimes(2)
  expect(outcome).toEqual({ value: resultOf(operation), afterMs: 35 })
})

test('when the probe fails, none of the waiting calls is sent, and each gets its cause', async () => {
  const { requests, states, burst } = await recovering('fails')
  const [probe, ...others] = burst(40)
  await jest.advanceTimersByTimeAsync(1)
  expect(probe?.value).toMatchObject({ message: 'fake: connection refused' })
  for (const { value } of others) {
    expect(value).toBeInstanceOf(CircuitOpenError)
    expect((value as StoreError).cause).toBe(probe?.value)
  }
  await jest.advanceTimersByTimeAsync(400)
  expect(requests).toHaveBeenCalledTimes(1)
  expect(states).toEqual(['half-open', 'open'])
})

test('when the probe hangs, each call waits until it times out', async () => {
  const { requests, states, begin } = await recovering()
  const probe = begin()
  await jest.advanceTimersByTimeAsync(20)
  const later = begin()
  await jest.advanceTimersByTimeAsync(200)
  expect(requests).toHaveBeenCalledTimes(1)
  expect(states).toEqual(['half-open', 'open'])
  expect(probe.value).toMatchObject(TIMED_OUT)
  expect(later.value).toBeInstanceOf(CircuitOpenError)
  const times = [probe, later].map(({ afterMs = 0 }) => afterMs)
  for (const [i, ms] of [100, 80].entries()) {
    expect(times[i]).toBeGreaterThanOrEqual(ms)
    expect(times[i]).toBeLessThanOrEqual(ms + 3)
  }
})

test('the wait for the probe is taken off the time for the store, and does not count against the store', async () => {
  const { pipe, requests, burst } = await recovering(60, ...Array(39).fill(50))
  const [probe, ...others] = burst(40)
  await jest.advanceTimersByTimeAsync(105)
  expect(requests).toHaveBeenCalledTimes(40)
  expect(probe).toEqual({ value: verdict, afterMs: 60 })
  for (const { value, afterMs } of others) {
    expect(value).toMatchObject(TIMED_OUT)
    expect(afterMs).toBeGreaterThanOrEqual(100)
    expect(afterMs).toBeLessThanOrEqual(103)
  }
  await jest.advanceTimersByTimeAsync(100)
  expect(pipe.state()).toBe('closed')
})

test('calls that hang for all of timeoutMs count as failures, also after a wait for the probe', async () => {
  const { states, burst } = await recovering(60)
  burst(40)
  await jest.advanceTimersByTimeAsync(155)
  expect(states).toEqual(['half-open', 'closed'])
  await jest.advanceTimersByTimeAsync(10)
  expect(states).toEqual(['half-open', 'closed', 'open'])
})

test('a call waits for one probe only', async () => {
  const { requests, begin } = await recovering('fails', 1)
  begin()
  const waiting = begin()
  await jest.advanceTimersByTimeAsync(1)
  expect(waiting.value).toBeInstanceOf(CircuitOpenError)
  await jest.advanceTimersByTimeAsync(1001)
  const next = begin()
  await jest.advanceTimersByTimeAsync(2)
  expect(next.value).toBe(verdict)
  expect(requests).toHaveBeenCalledTimes(2)
})

test('close waits for calls that wait for the probe', async () => {
  const { pipe, begin } = await recovering(30, 5)
  begin()
  const waiting = begin()
  const closed = jest.fn()
  pipe.close().then(() => closed(waiting.value))
  await jest.advanceTimersByTimeAsync(33)
  expect(closed).not.toHaveBeenCalled()
  await jest.advanceTimersByTimeAsync(5)
  expect(closed).toHaveBeenCalledWith(verdict)
})

describe.each([
  ['allow', 'fail-open'],
  ['deny', 'fail-closed'],
  ['local', 'local'],
] as const)('in a limiter with %j', (onStoreError, source) => {
  test('a burst whose probe hangs is decided within timeoutMs, with one storeError', async () => {
    let hangs = false
    const refused = () => Promise.reject(new Error('connection refused'))
    const store = storeThat(() => (hangs ? new Promise(() => undefined) : refused()))
    const limiter = createLimiter({ limit: 100, window: '1m', key: () => 'key', store, onStoreError })
    const storeErrors: StoreError[] = []
    limiter.events.on('storeError', (error) => storeErrors.push(error))
    for (let i = 0; i < 20; i++) await limiter.charge({ ip: '192.0.2.7' })
    await jest.advanceTimersByTimeAsync(1001)
    hangs = true
    storeErrors.length = 0
    const burst = Array.from({ length: 40 }, () => limiter.charge({ ip: '192.0.2.7' }))
    await jest.advanceTimersByTimeAsync(103)
    const sources = (await Promise.all(burst)).map((decision) => decision.source)
    expect(sources).toEqual(Array(40).fill(source))
    expect(storeErrors).toHaveLength(1)
    expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ source }) // at once: the breaker is open
  })
})

test('a call whose time-out ends its wait for the probe is never sent, and says so', async () => {
  const { requests, begin } = await recovering()
  begin()
  const waiting = begin(refund)
  await jest.advanceTimersByTimeAsync(TIMEOUT_MS + 1)
  expect(waiting.value).toBeInstanceOf(CircuitOpenError)
  expect(waiting.value).toMatchObject({ unsent: true })
  await jest.advanceTimersByTimeAsync(TIMEOUT_MS)
  expect(requests).toHaveBeenCalledTimes(1)
})
