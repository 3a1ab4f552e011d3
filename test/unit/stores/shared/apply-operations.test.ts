import { ban, consecutive, fixedWindow, StoreError } from 'headgate'
import type { Charge, Operation, Refund, State } from 'headgate/store'
import { applyOperations, type ReadState } from 'headgate/store'
import { type Parts, part } from '../../../../src/testing/conformance/store-calls.js'

const policy = fixedWindow({ limit: 5, window: 1000 })
const NOW_MS = 10_250

const readFrom = (states: Readonly<Record<string, State>>) => (key: string) => states[key]
const charge = (...parts: Parts): Charge => ({ type: 'charge', parts })
const refund = (key: string, cost: number): Refund => ({
  type: 'refund',
  ...part(key, policy, cost),
  takenAtMs: NOW_MS,
})
const forgetting = (key: string): Operation => ({ type: 'forget', key, policy })
const writesOf = (operations: readonly Operation[], read: ReadState, nowMs = NOW_MS) =>
  applyOperations(operations, read, nowMs).writes

test('there is one result for each operation, of its type, in order', () => {
  const one = part('a', policy)
  const banning = ban(policy, { after: 1, within: 1000, for: 2000 })
  const { outcomes, writes } = applyOperations(
    [
      charge(one),
      { type: 'take', key: 'a', policy, units: 7 },
      { type: 'reward', key: 'a', policy, units: 2 },
      refund('a', 1),
      { type: 'forget', key: 'b', policy },
      { type: 'block', key: 'c', policy: banning, forMs: 500 },
    ],
    readFrom({ b: [1, 10_100] }),
    NOW_MS,
  )
  expect(outcomes).toMatchObject([
    { type: 'charge', allowed: true, parts: [{ remaining: 4 }] },
    { type: 'take', taken: 4, remaining: 0 },
    { type: 'reward', remaining: 2 },
    { type: 'refund' },
    { type: 'forget' },
    { type: 'block', bannedForMs: 500 },
  ])
  expect(writes).toMatchObject([
    { key: 'a', state: [2, NOW_MS], ttlMs: 750 },
    { key: 'b', state: undefined, ttlMs: 0 },
    { key: 'c' },
  ])
})

test('charges of a batch see those before them, and each key is written once', () => {
  const charges = [2, 4, 3].map((cost) => charge(part('a', policy, cost)))
  const { outcomes, writes } = applyOperations(charges, readFrom({}), NOW_MS)
  expect(outcomes).toMatchObject([
    { allowed: true, atMs: NOW_MS },
    { allowed: false, atMs: NOW_MS },
    { allowed: true, atMs: NOW_MS },
  ])
  expect(writes).toEqual([{ key: 'a', state: [5, NOW_MS], ttlMs: 750 }])
})

test('a denied charge and a peek write nothing; a ban writes its denial', () => {
  const full = readFrom({ a: [5, 10_000] })
  const charges = [charge(part('b', policy), part('a', policy)), charge(part('b', policy, 0))]
  expect(writesOf(charges, full)).toEqual([])
  const banning = ban(policy, { after: 1, within: 1000, for: 2000 })
  const denied = charge(part('b', policy), part('a', banning, 6))
  expect(writesOf([denied], readFrom({}))).toMatchObject([{ key: 'a', ttlMs: 4000 }])
})

test('a state is kept for whole milliseconds, or without end', () => {
  const soon = writesOf([charge(part('a', policy))], readFrom({}), NOW_MS + 0.5)
  expect(soon).toMatchObject([{ ttlMs: 750 }])
  const forever = writesOf([charge(part('a', consecutive({ limit: 2 })))], readFrom({}))
  expect(forever).toMatchObject([{ ttlMs: Number.POSITIVE_INFINITY }])
})

test('refunds of one key see each other; one that leaves no unit removes it; unknown keys are left out', () => {
  const states = readFrom({ a: [4, 10_000], b: [1, 10_000] })
  const refunds = [refund('a', 1), refund('a', 1), refund('b', 3), refund('c', 1)]
  expect(writesOf(refunds, states)).toEqual([
    { key: 'a', state: [2, 10_000], ttlMs: 750, keepsExpiry: true },
    { key: 'b', state: undefined, ttlMs: 0 },
  ])
})

const OPERATIONS: readonly Operation[] = [charge(part('a', policy)), refund('a', 1)]

test('what read throws is thrown', () => {
  const read = () => {
    throw new Error('a corrupt row')
  }
  for (const operation of OPERATIONS)
    expect(() => applyOperations([operation], read, NOW_MS)).toThrow('a corrupt row')
})

test('a StoreError of read is the outcome of the operations that need the key, and the others still apply', () => {
  const error = new StoreError('test', 'a corrupt row')
  const read = (key: string) => {
    if (key === 'bad') throw error
    return undefined
  }
  const needing = charge(part('a', policy, 4), part('bad', policy))
  const operations = [needing, refund('bad', 1), charge(part('a', policy, 2)), forgetting('bad')]
  const { outcomes, writes } = applyOperations(operations, read, NOW_MS)
  expect(outcomes).toEqual([error, error, expect.objectContaining({ allowed: true }), { type: 'forget' }])
  expect(writes).toEqual([
    { key: 'a', state: [2, NOW_MS], ttlMs: 750 },
    { key: 'bad', state: undefined, ttlMs: 0 },
  ])
})

test.each([-1, 0.5, Number.NaN, '1'])('a cost of %p is an error', (cost) => {
  const message = 'applyOperations: a cost must be a whole number of at least 0'
  for (const operation of [charge(part('a', policy, cost as number)), refund('a', cost as number)])
    expect(() => applyOperations([operation], readFrom({}), NOW_MS)).toThrow(message)
})

test('an operation of no known type is an error', () => {
  const operation = { type: 'burn', key: 'a', policy } as unknown as Operation
  expect(() => applyOperations([operation], readFrom({}), NOW_MS)).toThrow(
    "applyOperations: type must be one of 'charge', 'take', 'refund', 'reward', 'block', 'renew', 'forget', got \"burn\".",
  )
})

describe.each(OPERATIONS)('a batch with a $type', (operation) => {
  const call = (read: ReadState, nowMs = NOW_MS) => applyOperations([operation], read, nowMs)

  test.each([Number.NaN, Number.POSITIVE_INFINITY, '10250', 10_250n, new Date(NOW_MS)])(
    'throws for the time %p',
    (nowMs) => {
      const message = `applyOperations: the time must be a finite number of milliseconds since the Unix epoch, got `
      expect(() => call(readFrom({ a: [4, 10_000] }), nowMs as number)).toThrow(TypeError)
      expect(() => call(readFrom({ a: [4, 10_000] }), nowMs as number)).toThrow(message)
    },
  )

  test.each([
    [
      Promise.resolve([4, 10_000]),
      'a promise. Await the states first, and have read return them from a Map.',
    ],
    [null, 'null. Return undefined for a key that has no state.'],
    [[], '[].'],
    [[4, Number.NaN], '[4, NaN].'],
    [[4, '10000'], '[4, "10000"].'],
    [[4, Number.NEGATIVE_INFINITY], '[4, -Infinity].'],
    ['[4,10000]', '"[4,10000]".'],
    [Float64Array.of(4, 10_000), 'an object.'],
  ])('throws for a read that returns %p', (state, shown) => {
    const read = () => state as State
    const message = `applyOperations: read must return undefined, or an array of 2 finite numbers, got ${shown}`
    expect(() => call(read)).toThrow(TypeError)
    expect(() => call(read)).toThrow(message)
  })
})

test.each([[[10_000]], [[5, 1000, 10_000]], [[5, 1000, 10_000, 4, 0]]])(
  'a state of another policy, %j, fails the operations of its key alone',
  (state) => {
    const read = (key: string) => (key === 'a' ? state : undefined)
    const { outcomes, writes } = applyOperations(
      [charge(part('a', policy)), refund('a', 1), charge(part('b', policy)), charge(part('a', policy))],
      read,
      NOW_MS,
    )
    const failed = expect.objectContaining({
      message:
        'store: the key a holds a value that is not a state of its policy. Give the limiter another prefix.',
      replied: true,
    })
    expect(outcomes).toEqual([failed, failed, expect.objectContaining({ allowed: true }), failed])
    expect(writes).toMatchObject([{ key: 'b' }])
  },
)

test('a key whose first read fails is not read again', () => {
  const read = jest.fn(() => {
    throw new StoreError('test', 'a corrupt row')
  })
  const { outcomes } = applyOperations([charge(part('a', policy)), refund('a', 1)], read, NOW_MS)
  expect(outcomes[0]).toBe(outcomes[1])
  expect(read).toHaveBeenCalledTimes(1)
})

test('a state is never written with a time to live of 0: one that is fresh by now is removed', () => {
  const reward: Operation = { type: 'reward', key: 'a', policy, units: 1 }
  const writes = writesOf([reward], readFrom({ a: [3, 10_000] }), NOW_MS + 5000)
  expect(writes).toEqual([{ key: 'a', state: undefined, ttlMs: 0 }])
})

test('each key is read once, and a state that stays as it is is not written', () => {
  const read = jest.fn(readFrom({ a: [4, 10_000] }))
  expect(writesOf([{ ...refund('a', 1), takenAtMs: NOW_MS - 5000 }], read)).toEqual([])
  writesOf([charge(part('b', policy), part('b', policy)), charge(part('b', policy, 9))], read)
  expect(read.mock.calls.map(([key]) => key)).toEqual(['a', 'b'])
})
