import { type Charge, type Store, StoreError, tokenBucket, type Verdict } from 'headgate'
import type { BreakerState } from '../../../src/resilience/circuit-breaker.js'
import { guardStore } from '../../../src/resilience/guarded-store.js'

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
const charge: Charge = [{ key: 'key', policy, cost: 1 }]
const part = { allowed: true, remaining: 4, resetAfterMs: 100, retryAfterMs: 0, moreAfterMs: 100 }
const verdict: Verdict = { allowed: true, atMs: 1_790_000_000_000, parts: [part] }

/** A guarded store whose answers a test gives, and how often it was asked. */
function guarded(answer: () => unknown) {
  const asked = jest.fn(answer)
  const states: BreakerState[] = []
  const store = { name: 'fake', charge: asked, refund: asked, forget: asked } as unknown as Store
  return {
    store: guardStore(store, { timeoutMs: 100, onChange: (state) => states.push(state) }),
    asked,
    states,
  }
}

type Asking = () => unknown

/** What an asking ends in, however it fails. */
async function outcomeOf(ask: Asking): Promise<unknown> {
  try {
    return await ask()
  } catch (error) {
    return error
  }
}

const fails = () => Promise.reject(new Error('connection refused'))

test('a store that fails five times is not asked any more, and the error says why', async () => {
  const { store, asked, states } = guarded(fails)
  for (let i = 0; i < 20; i++) await outcomeOf(() => store.charge(charge))
  expect(asked).toHaveBeenCalledTimes(5)
  expect(states).toEqual(['open'])
  const error = (await outcomeOf(() => store.charge(charge))) as StoreError
  expect(error).toBeInstanceOf(StoreError)
  expect(error.message).toBe(
    'fake: the circuit breaker is open after repeated failures (fake: connection refused)',
  )
  expect(error.cause).toMatchObject({ message: 'fake: connection refused' })
})

test('a store that was given less time than there is goes on being asked', async () => {
  jest.useFakeTimers()
  const { store, asked } = guarded(() => new Promise((resolve) => setTimeout(() => resolve([verdict]), 60)))
  for (let i = 0; i < 20; i++) {
    const outcome = outcomeOf(() => store.charge(charge, performance.now() - 60))
    await jest.advanceTimersByTimeAsync(45)
    expect(await outcome).toMatchObject({ message: 'fake: no answer within 40 ms' })
  }
  expect(asked).toHaveBeenCalledTimes(20)
  jest.useRealTimers()
})

test('a store that hangs is asked no more, also where others used up some of its time', async () => {
  jest.useFakeTimers()
  const { store } = guarded(() => new Promise(() => undefined))
  for (let i = 0; i < 10; i++) {
    const outcome = outcomeOf(() => store.charge(charge, performance.now() - 60))
    await jest.advanceTimersByTimeAsync(45)
    await outcome
  }
  await jest.advanceTimersByTimeAsync(100)
  expect(store.state()).toBe('open')
  jest.useRealTimers()
})

test.each<[string, (store: ReturnType<typeof guardStore>) => unknown]>([
  ['charges', (store) => store.charge(charge)],
  ['refunds', (store) => store.refund([{ key: 'key', policy, cost: 1, takenAtMs: 0 }])],
  ['forgetting', (store) => store.forget(charge)],
])('%s fail at once while it is not asked', async (_what, ask) => {
  const { store, asked } = guarded(fails)
  for (let i = 0; i < 5; i++) await outcomeOf(() => store.charge(charge))
  asked.mockClear()
  expect(await outcomeOf(() => ask(store))).toBeInstanceOf(StoreError)
  expect(asked).not.toHaveBeenCalled()
})

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('no')
    },
  ],
  ['answers nonsense', () => [{}]],
  ['answers nonsense late', () => Promise.resolve(undefined)],
])('a store that %s is held to fail', async (_what, answer) => {
  const { store, asked } = guarded(answer)
  for (let i = 0; i < 20; i++) await outcomeOf(() => store.charge(charge))
  expect(asked).toHaveBeenCalledTimes(5)
})

test('trouble with the keys of charges does not keep the store from being asked', async () => {
  const { store, asked } = guarded(() =>
    Promise.reject(new StoreError('fake', 'not ours', { answered: true })),
  )
  for (let i = 0; i < 20; i++) await outcomeOf(() => store.charge(charge))
  expect(asked).toHaveBeenCalledTimes(20)
})

describe('as time goes by', () => {
  beforeEach(() => jest.useFakeTimers())
  afterEach(() => jest.useRealTimers())

  test('one charge probes a store that failed, and all are asked again when it is answered', async () => {
    let isUp = false
    const { store, asked, states } = guarded(() => (isUp ? Promise.resolve([verdict]) : fails()))
    for (let i = 0; i < 5; i++) await outcomeOf(() => store.charge(charge))
    await jest.advanceTimersByTimeAsync(1001)
    await outcomeOf(() => store.charge(charge))
    expect(asked).toHaveBeenCalledTimes(6)
    isUp = true
    await jest.advanceTimersByTimeAsync(1001)
    expect(await outcomeOf(() => store.charge(charge))).toBe(verdict)
    expect(await outcomeOf(() => store.charge(charge))).toBe(verdict)
    expect(asked).toHaveBeenCalledTimes(8)
    expect(states).toEqual(['open', 'half-open', 'open', 'half-open', 'closed'])
  })

  test('charges that hang end when their time is over, and then the store is not asked any more', async () => {
    const { store, asked } = guarded(() => new Promise(() => {}))
    const answers = Array.from({ length: 200 }, () => outcomeOf(() => store.charge(charge)))
    await jest.advanceTimersByTimeAsync(105)
    expect(await Promise.all(answers)).toHaveLength(200)
    asked.mockClear()
    await outcomeOf(() => store.charge(charge))
    expect(asked).not.toHaveBeenCalled()
  })

  test('close waits for pending calls until they time out', async () => {
    const { store } = guarded(() => new Promise(() => {}))
    const ended = jest.fn()
    const outcome = outcomeOf(() => store.charge(charge))
    store.close().then(ended)
    await jest.advanceTimersByTimeAsync(95)
    expect(ended).not.toHaveBeenCalled()
    await jest.advanceTimersByTimeAsync(10)
    expect(ended).toHaveBeenCalledTimes(1)
    await outcome
  })
})
