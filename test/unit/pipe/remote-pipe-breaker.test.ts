import { type Store, StoreError, tokenBucket } from 'headgate'
import { type ChargeResult, customStore, type Operation } from 'headgate/store'
import type { BreakerState } from '../../../src/pipe/breaker-state.js'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { chargePipe, remotePipe } from '../../support/remote-pipe.js'

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
const charge: Parts = [{ key: 'key', policy, cost: 1 }]
const part = { allowed: true, remaining: 4, resetAfterMs: 100, retryAfterMs: 0, moreAfterMs: 100 }
const verdict: ChargeResult = { type: 'charge', allowed: true, atMs: 1_790_000_000_000, parts: [part] }

/** A pipe to a store whose answers a test gives, with a mock of its calls. */
function pipeToFake(answer: () => unknown) {
  const calls = jest.fn(answer)
  const states: BreakerState[] = []
  const store: Store = customStore({ name: 'fake', apply: calls as Store['apply'] })
  return {
    pipe: remotePipe(store, { timeoutMs: 100, onChange: (state) => states.push(state) }),
    calls,
    states,
  }
}

type Call = () => unknown

/** What a call returns or fails with. */
async function outcomeOf(call: Call): Promise<unknown> {
  try {
    return await call()
  } catch (error) {
    return error
  }
}

const fails = () => Promise.reject(new Error('connection refused'))

test('a store all of whose calls fail gets no more after twenty, and the error has the cause', async () => {
  const { pipe, calls, states } = pipeToFake(fails)
  for (let i = 0; i < 30; i++) await outcomeOf(() => chargePipe(pipe, charge))
  expect(calls).toHaveBeenCalledTimes(20)
  expect(states).toEqual(['open'])
  const error = (await outcomeOf(() => chargePipe(pipe, charge))) as StoreError
  expect(error).toBeInstanceOf(StoreError)
  expect(error.message).toBe(
    'fake: the circuit breaker is open after repeated failures (fake: connection refused)',
  )
  expect(error.cause).toMatchObject({ message: 'fake: connection refused' })
})

test.each<Operation>([
  { type: 'charge', parts: charge },
  { type: 'take', key: 'key', policy, units: 0 },
  { type: 'refund', key: 'key', policy, cost: 1, takenAtMs: 0 },
  { type: 'forget', key: 'key', policy },
])('a $type fails at once while the breaker is open', async (operation) => {
  const { pipe, calls } = pipeToFake(fails)
  for (let i = 0; i < 20; i++) await outcomeOf(() => chargePipe(pipe, charge))
  calls.mockClear()
  const settle = jest.fn()
  expect(pipe.send(operation, settle)).toBeInstanceOf(StoreError)
  expect(settle).not.toHaveBeenCalled()
  expect(calls).not.toHaveBeenCalled()
})

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('no')
    },
  ],
  ['answers nonsense', () => [{}]],
  ['answers nonsense by a promise', () => Promise.resolve(undefined)],
])('a store that %s opens the breaker', async (_what, answer) => {
  const { pipe, calls } = pipeToFake(answer)
  for (let i = 0; i < 30; i++) await outcomeOf(() => chargePipe(pipe, charge))
  expect(calls).toHaveBeenCalledTimes(20)
})

test('a replied error does not open the breaker', async () => {
  const { pipe, calls } = pipeToFake(() =>
    Promise.reject(new StoreError('fake', 'not ours', { replied: true })),
  )
  for (let i = 0; i < 30; i++) await outcomeOf(() => chargePipe(pipe, charge))
  expect(calls).toHaveBeenCalledTimes(30)
})

describe('as time passes,', () => {
  beforeEach(() => jest.useFakeTimers())
  afterEach(() => jest.useRealTimers())

  test('one charge probes a store that failed, and its success closes the breaker', async () => {
    let isUp = false
    const { pipe, calls, states } = pipeToFake(() => (isUp ? Promise.resolve([verdict]) : fails()))
    for (let i = 0; i < 20; i++) await outcomeOf(() => chargePipe(pipe, charge))
    await jest.advanceTimersByTimeAsync(1001)
    await outcomeOf(() => chargePipe(pipe, charge))
    expect(calls).toHaveBeenCalledTimes(21)
    isUp = true
    await jest.advanceTimersByTimeAsync(1001)
    expect(await outcomeOf(() => chargePipe(pipe, charge))).toBe(verdict)
    expect(await outcomeOf(() => chargePipe(pipe, charge))).toBe(verdict)
    expect(calls).toHaveBeenCalledTimes(23)
    expect(states).toEqual(['open', 'half-open', 'open', 'half-open', 'closed'])
  })

  test('charges that hang time out, and open the breaker', async () => {
    const { pipe, calls } = pipeToFake(() => new Promise(() => {}))
    const answers = Array.from({ length: 200 }, () => outcomeOf(() => chargePipe(pipe, charge)))
    await jest.advanceTimersByTimeAsync(105)
    expect(await Promise.all(answers)).toHaveLength(200)
    calls.mockClear()
    await outcomeOf(() => chargePipe(pipe, charge))
    expect(calls).not.toHaveBeenCalled()
  })

  test('close waits for pending calls until they time out', async () => {
    const { pipe } = pipeToFake(() => new Promise(() => {}))
    const ended = jest.fn()
    const outcome = outcomeOf(() => chargePipe(pipe, charge))
    pipe.close().then(ended)
    await jest.advanceTimersByTimeAsync(95)
    expect(ended).not.toHaveBeenCalled()
    await jest.advanceTimersByTimeAsync(10)
    expect(ended).toHaveBeenCalledTimes(1)
    await outcome
  })
})
