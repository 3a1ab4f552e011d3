import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { memoryStore, type Store, StoreError, tokenBucket } from 'headgate'
import { type ChargeResult, customStore } from 'headgate/store'
import { recordResend } from '../../../src/pipe/client-notes.js'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { chargePipe, remotePipe } from '../../support/remote-pipe.js'

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
const charge: Parts = [{ key: 'key', policy, cost: 1 }]
const part = { allowed: true, remaining: 4, resetAfterMs: 100, retryAfterMs: 0, moreAfterMs: 100 }
const verdict: ChargeResult = { type: 'charge', allowed: true, atMs: 1_790_000_000_000, parts: [part] }

/** A store that answers with whatever a test says. */
function storeThat(answer: () => unknown): Store {
  return customStore({ name: 'fake', apply: answer as Store['apply'] })
}

const chargeWith = (answer: () => unknown, timeoutMs = 100) =>
  chargePipe(remotePipe(storeThat(answer), { timeoutMs }), charge)

/** What a charge throws or rejects with. */
async function failureOf(answer: () => unknown): Promise<unknown> {
  try {
    return { allowed: await chargeWith(answer) }
  } catch (error) {
    return error
  }
}

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

test('a synchronous answer is returned without a promise or a timer', () => {
  expect(chargeWith(() => [verdict])).toBe(verdict)
  expect(jest.getTimerCount()).toBe(0)
})

test('the memory store needs no promise', () => {
  expect(chargePipe(remotePipe(memoryStore(), { timeoutMs: 100 }), charge)).toMatchObject({
    allowed: true,
    parts: [{ remaining: 4 }],
  })
})

test('the store gets the charge in a batch of one', () => {
  const calls = jest.fn(() => [verdict])
  chargePipe(remotePipe(storeThat(calls), { timeoutMs: 100 }), charge)
  expect(calls.mock.calls).toEqual([[[{ type: 'charge', parts: charge }]]])
})

test('an answer in time is returned', async () => {
  const answer = chargeWith(() => new Promise((resolve) => setTimeout(() => resolve([verdict]), 99)))
  await jest.advanceTimersByTimeAsync(99)
  expect(await answer).toBe(verdict)
})

test('any thenable counts as a promise', async () => {
  // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested
  const thenable = { then: (resolve: (value: unknown) => void) => resolve([verdict]) }
  expect(await chargeWith(() => thenable)).toBe(verdict)
})

test('a call of a store that hangs rejects after timeoutMs', async () => {
  const outcome = jest.fn()
  const answer = chargeWith(() => new Promise(() => {}), 250) as Promise<ChargeResult>
  answer.catch(outcome)
  await jest.advanceTimersByTimeAsync(249)
  expect(outcome).not.toHaveBeenCalled()
  await jest.advanceTimersByTimeAsync(2)
  expect(outcome).toHaveBeenCalledTimes(1)
  await expect(answer).rejects.toThrow('fake: no reply within 250 ms')
})

test('the time of a call that the server rejected unrun and got again begins anew, once', async () => {
  const client = {}
  const outcomes: unknown[] = []
  const hanging = { ...storeThat(() => new Promise(() => {})), origin: { client } }
  const send = () =>
    (chargePipe(remotePipe(hanging, { timeoutMs: 100 }), charge) as Promise<ChargeResult>).catch((error) =>
      outcomes.push(error.message),
    )
  send()
  await jest.advanceTimersByTimeAsync(50)
  recordResend(client)
  await jest.advanceTimersByTimeAsync(1)
  recordResend(client)
  send() // in the form that the server takes
  await jest.advanceTimersByTimeAsync(100)
  expect(outcomes).toEqual(['fake: no reply within 100 ms'])
  await jest.advanceTimersByTimeAsync(48)
  expect(outcomes).toHaveLength(1)
  await jest.advanceTimersByTimeAsync(10)
  expect(outcomes).toHaveLength(2)
})

test.each([
  ['answers', (resolve: (value: unknown) => void) => resolve([verdict])],
  ['rejects', (_: unknown, reject: (reason: unknown) => void) => reject(new Error('too late'))],
])('a store that %s too late changes nothing, and is no unhandled rejection', async (_how, settle) => {
  const unhandled = jest.fn()
  process.on('unhandledRejection', unhandled)
  const answer = chargeWith(() => new Promise((resolve, reject) => setTimeout(settle, 300, resolve, reject)))
  const failed = expect(answer).rejects.toThrow('fake: no reply within 100 ms')
  await jest.advanceTimersByTimeAsync(400)
  await failed
  jest.useRealTimers()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
  jest.useFakeTimers()
})

const thrown: [string, unknown, string][] = [
  ['an error', new Error('connection refused'), 'fake: connection refused'],
  ['a type error', new TypeError('x is not a function'), 'fake: x is not a function'],
  ['a string', 'connection refused', 'fake: connection refused'],
  ['undefined', undefined, 'fake: undefined was thrown'],
  ['null', null, 'fake: null was thrown'],
  ['a symbol', Symbol('why'), 'fake: Symbol(why) was thrown'],
]

describe.each(thrown)('%s as the reason', (_what, cause, message) => {
  test.each<[string, () => unknown]>([
    [
      'thrown',
      () => {
        throw cause
      },
    ],
    ['rejected with', () => Promise.reject(cause)],
  ])('becomes the cause of a StoreError when %s', async (_how, answer) => {
    const failure = await failureOf(answer)
    expect(failure).toBeInstanceOf(StoreError)
    expect(failure).toMatchObject({ name: 'StoreError', store: 'fake', message, cause })
  })
})

test('a StoreError of the store is thrown as it is', async () => {
  const own = new StoreError('fake', 'no answer from 10.0.0.1')
  expect(await failureOf(() => Promise.reject(own))).toBe(own)
  expect(
    await failureOf(() => {
      throw own
    }),
  ).toBe(own)
})

test('a rejection with an object without a prototype is a StoreError', async () => {
  const answer = chargeWith(() => Promise.reject(Object.create(null))) as Promise<ChargeResult>
  const outcome = jest.fn()
  answer.catch(outcome)
  await jest.advanceTimersByTimeAsync(1000)
  expect(outcome).toHaveBeenCalledWith(expect.any(StoreError))
})

test('a thenable that throws is a StoreError', async () => {
  const failure = await failureOf(() => ({
    // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested
    then() {
      throw new Error('broken thenable')
    },
  }))
  expect(failure).toBeInstanceOf(StoreError)
})

test('a reply that comes after the time-out is told on the channel, and a failure that comes late is not', async () => {
  const told: unknown[] = []
  const note = (message: unknown) => told.push(message)
  subscribe('headgate:store', note)
  try {
    for (const late of [() => [verdict], () => Promise.reject(new Error('the connection was reset'))]) {
      const answer = chargeWith(() => new Promise((resolve) => setTimeout(() => resolve(late()), 412)))
      Promise.resolve(answer).catch(() => undefined)
      await jest.advanceTimersByTimeAsync(500)
    }
  } finally {
    unsubscribe('headgate:store', note)
  }
  const calls = (told as { type: string; operation: string; durationMs: number }[]).filter(({ type }) =>
    ['call', 'late'].includes(type),
  )
  expect(calls.map(({ type, operation, durationMs }) => [type, operation, Math.round(durationMs)])).toEqual([
    ['call', 'charge', 100],
    ['late', 'charge', 412],
    ['call', 'charge', 100],
  ])
})
