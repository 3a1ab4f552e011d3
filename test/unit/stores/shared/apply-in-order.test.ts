import { consecutive, type State } from 'headgate'
import { applyInOrder } from '../../../../src/stores/shared/apply-in-order.js'
import { part } from '../../../../src/testing/conformance/store-calls.js'

const policy = consecutive({ limit: 5 })
const broken = {
  ...policy,
  take() {
    throw new Error('a policy that breaks')
  },
}

function apply(states: Readonly<Record<string, State>>, ...operations: Parameters<typeof applyInOrder>[0]) {
  const { results, writes } = applyInOrder(operations, (key) => states[key], 1000)
  return { results, states: Object.fromEntries(Array.from(writes, ([key, { state }]) => [key, state])) }
}

test('operations see what those before them left', () => {
  const { results, states } = apply(
    { a: [1], b: [2] },
    [part('a', policy, 3)],
    { refund: { ...part('a', policy, 2), takenAtMs: 0 } },
    { forget: part('b', policy) },
    [part('b', policy, 4)],
  )
  const one = { parts: [{ remaining: 1 }] }
  expect(results).toMatchObject([one, undefined, undefined, one])
  expect(states).toEqual({ a: [2], b: [4] })
})

test('a refund of a fresh key writes nothing', () => {
  expect(apply({}, { refund: { ...part('a', policy), takenAtMs: 0 } }).states).toEqual({})
})

test('an operation that fails changes nothing, and the others still apply', () => {
  const { results, states } = apply({}, [part('a', policy), part('b', broken)], [part('b', policy)])
  expect(results).toMatchObject([{ message: 'a policy that breaks' }, { allowed: true }])
  expect(states).toEqual({ b: [1] })
})
