import {
  applyRefunds,
  ban,
  consecutive,
  decideCharges,
  fixedWindow,
  type ReadState,
  type Refund,
  type State,
  type StateWrite,
} from 'headgate'
import { part } from '../../../../src/testing/conformance/store-calls.js'

const policy = fixedWindow({ limit: 5, window: 1000 })
const NOW_MS = 10_250

const readFrom = (states: Readonly<Record<string, State>>) => (key: string) => states[key]
const refund = (key: string, cost: number): Refund => ({ ...part(key, policy, cost), takenAtMs: NOW_MS })

test('charges of a batch see those before them, and each key is written once', () => {
  const charges = [2, 4, 3].map((cost) => [part('a', policy, cost)])
  const { verdicts, writes } = decideCharges(charges, readFrom({}), NOW_MS)
  expect(verdicts.map(({ allowed, atMs }) => [allowed, atMs])).toEqual([
    [true, NOW_MS],
    [false, NOW_MS],
    [true, NOW_MS],
  ])
  expect(writes).toEqual([{ key: 'a', state: [10, 5], ttlMs: 750 }])
})

test('a denied charge and a peek write nothing; a ban writes its denial', () => {
  const full = readFrom({ a: [10, 5] })
  expect(
    decideCharges([[part('b', policy), part('a', policy)], [part('b', policy, 0)]], full, NOW_MS).writes,
  ).toEqual([])
  const banning = ban(policy, { after: 1, within: 1000, for: 2000 })
  const { writes } = decideCharges([[part('b', policy), part('a', banning, 6)]], readFrom({}), NOW_MS)
  expect(writes).toMatchObject([{ key: 'a', ttlMs: 4000 }])
})

test('a state is kept for whole milliseconds, or without end', () => {
  const ttlOf = (write: StateWrite | undefined) => write?.ttlMs
  expect(ttlOf(decideCharges([[part('a', policy)]], readFrom({}), NOW_MS + 0.5).writes[0])).toBe(750)
  const forever = decideCharges([[part('a', consecutive({ limit: 2 }))]], readFrom({}), NOW_MS)
  expect(ttlOf(forever.writes[0])).toBe(Number.POSITIVE_INFINITY)
})

test('refunds of one key see each other; one that leaves a fresh state removes it; unknown keys are left out', () => {
  const states = readFrom({ a: [10, 4], b: [10, 1] })
  const writes = applyRefunds(
    [refund('a', 1), refund('a', 1), refund('b', 3), refund('c', 1)],
    states,
    NOW_MS,
  )
  expect(writes).toEqual([
    { key: 'a', state: [10, 2], ttlMs: 750 },
    { key: 'b', state: undefined, ttlMs: 0 },
  ])
})

test('what read throws is thrown', () => {
  const read = () => {
    throw new Error('a corrupt row')
  }
  expect(() => decideCharges([[part('a', policy)]], read, NOW_MS)).toThrow('a corrupt row')
  expect(() => applyRefunds([refund('a', 1)], read, NOW_MS)).toThrow('a corrupt row')
})

test.each([-1, 0.5, Number.NaN, '1'])('a cost of %p is an error', (cost) => {
  const charges = [[part('a', policy, cost as number)]]
  const refunds = [refund('a', cost as number)]
  const message = 'a cost must be a whole number of at least 0'
  expect(() => decideCharges(charges, readFrom({}), NOW_MS)).toThrow(`decideCharges: ${message}`)
  expect(() => applyRefunds(refunds, readFrom({}), NOW_MS)).toThrow(`applyRefunds: ${message}`)
})

const CALLS: readonly [string, (read: ReadState, nowMs?: number) => unknown][] = [
  ['decideCharges', (read, nowMs = NOW_MS) => decideCharges([[part('a', policy)]], read, nowMs)],
  ['applyRefunds', (read, nowMs = NOW_MS) => applyRefunds([refund('a', 1)], read, nowMs)],
]

describe.each(CALLS)('%s', (name, call) => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, '10250', 10_250n, new Date(NOW_MS)])(
    'throws for the time %p',
    (nowMs) => {
      const message = `${name}: the time must be a finite number of milliseconds since the Unix epoch, got `
      expect(() => call(readFrom({ a: [10, 4] }), nowMs as number)).toThrow(TypeError)
      expect(() => call(readFrom({ a: [10, 4] }), nowMs as number)).toThrow(message)
    },
  )

  test.each([
    [Promise.resolve([10, 4]), 'a promise. Await the states first, and have read return them from a Map.'],
    [null, 'null. Return undefined for a key that has no state.'],
    [[10], '[10].'],
    [[10, 4, 0], '[10, 4, 0].'],
    [[10, Number.NaN], '[10, NaN].'],
    [['10', 4], '["10", 4].'],
    [[10, Number.NEGATIVE_INFINITY], '[10, -Infinity].'],
    ['[10,4]', '"[10,4]".'],
    [Float64Array.of(10, 4), 'an object.'],
  ])('throws for a read that returns %p', (state, shown) => {
    const read = () => state as State
    const message = `${name}: read must return undefined, or an array of 2 finite numbers, got ${shown}`
    expect(() => call(read)).toThrow(TypeError)
    expect(() => call(read)).toThrow(message)
  })
})

test('a state is never written with a time to live of 0: one that is fresh by now is removed', () => {
  const writes = applyRefunds([refund('a', 1)], readFrom({ a: [10, 3] }), NOW_MS + 5000)
  expect(writes).toEqual([{ key: 'a', state: undefined, ttlMs: 0 }])
})

test('each key is read once, and a state that stays as it is is not written', () => {
  const read = jest.fn(readFrom({ a: [10, 4] }))
  expect(applyRefunds([{ ...refund('a', 1), takenAtMs: NOW_MS - 5000 }], read, NOW_MS)).toEqual([])
  decideCharges([[part('b', policy), part('b', policy)], [part('b', policy, 9)]], read, NOW_MS)
  expect(read.mock.calls.map(([key]) => key)).toEqual(['a', 'b'])
})
