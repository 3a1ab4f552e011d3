import { fixedWindow } from '../../../../src/index.js'
import { keyQueue } from '../../../../src/stores/builders/swap-loop.js'
import type { Operation, Outcome } from '../../../../src/stores/operation.js'

const minutes = fixedWindow({ limit: 10, window: '1m' })
const hours = fixedWindow({ limit: 10, window: '1h' })

const reward = (policy: typeof minutes, units: number): Operation => ({
  type: 'reward',
  key: 'k',
  policy,
  units,
})

const unitsOf = (operations: readonly Operation[]) =>
  operations.map((operation) => (operation.type === 'reward' ? operation.units : Number.NaN))

/** A queue whose calls wait for `answer`. */
function heldQueue() {
  const calls: { units: number[]; answer: () => void }[] = []
  const queue = keyQueue((_, operations, settle) => {
    const units = unitsOf(operations)
    // The units tell outcomes apart.
    const answer = () => settle(units.map((unit) => ({ type: 'refund', unit }) as unknown as Outcome))
    calls.push({ units, answer })
  })
  const settled: unknown[] = []
  const apply = (...operations: Operation[]) =>
    queue('k', operations, (outcomes) =>
      settled.push(outcomes.map((outcome) => (outcome as unknown as { unit: number }).unit)),
    )
  return { calls, settled, apply }
}

test('calls that wait for a key run together, and each gets its own outcomes', () => {
  const { calls, settled, apply } = heldQueue()
  apply(reward(minutes, 1))
  apply(reward(minutes, 2), reward(minutes, 3))
  apply(reward(minutes, 4))
  calls[0]?.answer()
  expect(calls.map(({ units }) => units)).toEqual([[1], [2, 3, 4]])
  calls[1]?.answer()
  expect(settled).toEqual([[1], [2, 3], [4]])
})

test('calls of different policies never run together, and keep their order', () => {
  const { calls, settled, apply } = heldQueue()
  apply(reward(minutes, 1))
  for (const [policy, units] of [
    [minutes, 2],
    [hours, 3],
    [hours, 4],
    [minutes, 5],
  ] as const)
    apply(reward(policy, units))
  for (let i = 0; i < 3; i++) calls[i]?.answer()
  apply(reward(hours, 6))
  for (let i = 3; i < 5; i++) calls[i]?.answer()
  expect(calls.map(({ units }) => units)).toEqual([[1], [2], [3, 4], [5], [6]])
  expect(settled).toEqual([[1], [2], [3], [4], [5], [6]])
})

test('a key that nobody uses any more is free', () => {
  const { calls, settled, apply } = heldQueue()
  for (const units of [1, 2]) {
    apply(reward(minutes, units))
    calls.at(-1)?.answer()
  }
  expect(settled).toEqual([[1], [2]])
})
