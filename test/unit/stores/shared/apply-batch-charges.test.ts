import { consecutive, fixedWindow, tokenBucket } from 'headgate'
import type { Part, State } from 'headgate/store'
import { evaluateCharge } from '../../../../src/stores/shared/apply-batch.js'
import type { Parts } from '../../../../src/testing/conformance/store-calls.js'

const NOW_MS = 1_790_000_000_000
const count = consecutive({ limit: 5 })

function decide(charge: Parts, states: Readonly<Record<string, State>> = {}) {
  const { verdict, writes } = evaluateCharge(charge, (key) => states[key], NOW_MS)
  return { ...verdict, writes: Object.fromEntries([...writes].map(([key, { state }]) => [key, state])) }
}

const part = (key: string, cost: number): Part => ({ key, policy: count, cost })
const standing = (remaining: number) => ({ allowed: true, remaining, retryAfterMs: 0 })

test('when every part allows, the writes are the states after all of them', () => {
  const outcome = decide([part('a', 1), part('b', 2)], { b: [1] })
  expect(outcome).toMatchObject({ allowed: true, atMs: NOW_MS, parts: [standing(4), standing(2)] })
  expect(outcome.writes).toEqual({ a: [1], b: [3] })
})

test('when a part denies, nothing is written, and the others show the present figures', () => {
  const outcome = decide([part('a', 1), part('full', 1), part('b', 2)], { full: [5], b: [1] })
  expect(outcome.allowed).toBe(false)
  expect(outcome.parts).toMatchObject([standing(5), { allowed: false, remaining: 0 }, standing(4)])
  expect(outcome.writes).toEqual({})
})

test('every part is decided, even after one that denies', () => {
  const { parts } = decide([part('full', 1), part('fuller', 2), part('free', 1)], {
    full: [5],
    fuller: [4],
  })
  expect(parts.map(({ allowed }) => allowed)).toEqual([false, false, true])
})

test('parts of one key see each other', () => {
  const outcome = decide([part('a', 2), part('b', 1), part('a', 3)])
  expect(outcome.parts.map(({ remaining }) => remaining)).toEqual([3, 4, 0])
  expect(outcome.writes).toEqual({ a: [5], b: [1] })
})

test('a key with enough for each of its parts but not for both is denied unchanged', () => {
  const outcome = decide([part('a', 2), part('a', 2)], { a: [2] })
  expect(outcome.parts).toMatchObject([standing(3), { allowed: false, remaining: 3 }])
  expect(outcome.writes).toEqual({})
})

test.each([
  ['never comes, where they are more than the limit', [3, 3], 0, Number.POSITIVE_INFINITY],
  ['is that of their sum', [2, 2], 2000, 1000],
])('the retry time of one key named twice %s', (_what, costs, owedMs, retryAfterMs) => {
  const bucket = tokenBucket({ capacity: 5, refill: 1, every: 1000 })
  const charge = costs.map((cost) => ({ key: 'a', policy: bucket, cost }))
  const { allowed, parts } = decide(charge, { a: [owedMs / 1000, NOW_MS] })
  expect(allowed).toBe(false)
  expect(parts[1]).toMatchObject({ allowed: false, retryAfterMs, resetAfterMs: owedMs })
})

test('cost 0 writes nothing', () => {
  const outcome = decide([part('a', 0), part('full', 0)], { full: [5] })
  expect(outcome).toMatchObject({ allowed: true, parts: [standing(5), standing(0)] })
  expect(outcome.writes).toEqual({})
})

test('a state from a clock far ahead is clamped only by the part that it denies', () => {
  const minute = fixedWindow({ limit: 5, window: 60_000 })
  const aheadMs = (Math.floor(NOW_MS / 60_000) + 100) * 60_000
  const states = { ahead: [5, aheadMs], alsoAhead: [1, aheadMs] }
  expect(minute.take(states.ahead, NOW_MS, 1).next).toBeDefined()
  const outcome = decide(
    [
      { key: 'ahead', policy: minute, cost: 1 },
      { key: 'alsoAhead', policy: minute, cost: 1 },
    ],
    states,
  )
  expect(outcome.allowed).toBe(false)
  expect(outcome.writes).toEqual({ ahead: minute.take(states.ahead, NOW_MS, 1).next })
})

test('neither the charge nor the states are changed', () => {
  const charge = Object.freeze([Object.freeze(part('a', 1)), Object.freeze(part('b', 1))])
  const states = Object.freeze({ a: Object.freeze([1]), b: Object.freeze([2]) })
  expect(decide(charge, states).writes).toEqual({ a: [2], b: [3] })
  expect(states).toEqual({ a: [1], b: [2] })
})

test('keys named like inherited object properties are ordinary keys', () => {
  const keys = ['__proto__', 'constructor', 'toString']
  const { verdict, writes } = evaluateCharge(
    keys.map((key, i) => part(key, i + 1)),
    () => undefined,
    NOW_MS,
  )
  expect(verdict.allowed).toBe(true)
  expect([...writes].map(([key, { state, policy }]) => [key, state, policy])).toEqual(
    keys.map((key, i) => [key, [i + 1], count]),
  )
})

test('a denied part waits for the parts of its key that are allowed with it, not for denied ones', () => {
  const bucket = tokenBucket({ capacity: 10, refill: 10, every: 10_000 })
  const parts = [5, 3, 2].map((cost): Part => ({ key: 'a', policy: bucket, cost }))
  const outcome = decide(parts, { a: [6, NOW_MS] })
  expect(outcome.parts.map(({ allowed, retryAfterMs }) => [allowed, retryAfterMs])).toEqual([
    [false, 1000],
    [true, 0],
    [false, 1000],
  ])
})
