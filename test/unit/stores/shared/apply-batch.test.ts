import { consecutive } from 'headgate'
import type { Charge, Refund, State } from 'headgate/store'
import { applyBatch } from '../../../../src/stores/shared/apply-batch.js'
import { type Parts, part } from '../../../../src/testing/conformance/store-calls.js'

const policy = consecutive({ limit: 5 })
const broken = {
  ...policy,
  take() {
    throw new Error('a policy that breaks')
  },
}

const charge = (...parts: Parts): Charge => ({ type: 'charge', parts })
const refund = (key: string, cost = 1): Refund => ({
  type: 'refund',
  ...part(key, policy, cost),
  takenAtMs: 0,
})

function apply(states: Readonly<Record<string, State>>, ...operations: Parameters<typeof applyBatch>[0]) {
  const { results, writes } = applyBatch(operations, (key) => states[key], 1000)
  return { results, states: Object.fromEntries(Array.from(writes, ([key, { state }]) => [key, state])) }
}

test('operations see what those before them left', () => {
  const { results, states } = apply(
    { a: [1], b: [2] },
    charge(part('a', policy, 3)),
    refund('a', 2),
    { type: 'forget', key: 'b', policy },
    charge(part('b', policy, 4)),
  )
  const one = { type: 'charge', parts: [{ remaining: 1 }] }
  expect(results).toMatchObject([one, { type: 'refund' }, { type: 'forget' }, one])
  expect(states).toEqual({ a: [2], b: [4] })
})

test('a refund of a fresh key writes nothing', () => {
  expect(apply({}, refund('a')).states).toEqual({})
})

test('an operation that fails changes nothing, and the others still apply', () => {
  const { results, states } = apply(
    {},
    charge(part('a', policy), part('b', broken)),
    charge(part('b', policy)),
  )
  expect(results).toMatchObject([{ message: 'a policy that breaks' }, { allowed: true }])
  expect(states).toEqual({ b: [1] })
})
