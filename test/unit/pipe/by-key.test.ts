import { fixedWindow } from '../../../src/index.js'
import { type ApplyToKey, runByKey } from '../../../src/pipe/by-key.js'
import type { Operation, Outcome } from '../../../src/stores/operation.js'

const minutes = fixedWindow({ limit: 10, window: '1m' })
const hours = fixedWindow({ limit: 10, window: '1h' })

const reward = (policy: typeof minutes, units: number, key = 'k'): Operation => ({
  type: 'reward',
  key,
  policy,
  units,
})

const refund = (cost: number): Operation => ({
  type: 'refund',
  key: 'k',
  policy: minutes,
  cost,
  takenAtMs: 0,
})

const unitsOf = (operations: readonly Operation[]) =>
  operations.map((operation) => {
    if (operation.type === 'reward') return operation.units
    return operation.type === 'refund' ? operation.cost : Number.NaN
  })

/**
 * Runs operations that wait for `answer`. Each outcome carries the units of its operation, to tell it apart.
 */
function heldKeys(storageKey = (key: string) => key) {
  const calls: { units: number[]; answer: () => void }[] = []
  const hold: ApplyToKey = ({ operations }, settle) => {
    const units = unitsOf(operations)
    const answer = () => settle(units.map((unit) => ({ type: 'refund', unit }) as unknown as Outcome))
    calls.push({ units, answer })
  }
  const holdRefunds: ApplyToKey = (keyed, settle) => hold(keyed, settle)
  const run = runByKey('held', ({ type }) => (type === 'refund' ? holdRefunds : hold), storageKey)
  const settled: unknown[] = []
  const outcomeOf = (outcome: Outcome) => (outcome instanceof Error ? outcome.message : Object(outcome).unit)
  const apply = (...operations: Operation[]) =>
    run(operations).then((outcomes) => settled.push(outcomes.map(outcomeOf)))
  return { calls, settled, apply }
}

const promisesRun = () => new Promise<void>((resolve) => setImmediate(resolve))

test('operations that wait for a key run together, and each call gets its own outcomes', async () => {
  const { calls, settled, apply } = heldKeys()
  apply(reward(minutes, 1))
  apply(reward(minutes, 2), reward(minutes, 3))
  apply(reward(minutes, 4))
  calls[0]?.answer()
  expect(calls.map(({ units }) => units)).toEqual([[1], [2, 3, 4]])
  calls[1]?.answer()
  await promisesRun()
  expect(settled).toEqual([[1], [2, 3], [4]])
})

test('operations of a batch on one key begin together, at the same time as those on other keys', async () => {
  const { calls, settled, apply } = heldKeys()
  apply(reward(minutes, 1), reward(minutes, 2, 'other'), reward(minutes, 3))
  expect(calls.map(({ units }) => units)).toEqual([[1, 3], [2]])
  calls[1]?.answer()
  calls[0]?.answer()
  await promisesRun()
  expect(settled).toEqual([[1, 2, 3]])
})

test('operations of different policies never run together, and keep their order', async () => {
  const { calls, settled, apply } = heldKeys()
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
  await promisesRun()
  expect(calls.map(({ units }) => units)).toEqual([[1], [2], [3, 4], [5], [6]])
  expect(settled).toEqual([[1], [2], [3], [4], [5], [6]])
})

test('operations with different appliers never run together, and keep their order', () => {
  const { calls, apply } = heldKeys()
  apply(reward(minutes, 1), refund(2), refund(3), reward(minutes, 4))
  for (let i = 0; i < 3; i++) calls[i]?.answer()
  expect(calls.map(({ units }) => units)).toEqual([[1], [2, 3], [4]])
})

test('a key is free once its last operation has an outcome', async () => {
  const { calls, settled, apply } = heldKeys()
  for (const units of [1, 2]) {
    apply(reward(minutes, units))
    calls.at(-1)?.answer()
  }
  await promisesRun()
  expect(settled).toEqual([[1], [2]])
})

test('a key stays in use while thousands of others come and go', () => {
  const { calls, apply } = heldKeys()
  apply(reward(minutes, 1))
  for (let i = 0; i < 5000; i++) {
    apply(reward(minutes, i, `other:${i}`))
    calls.at(-1)?.answer()
  }
  apply(reward(minutes, 2))
  expect(calls).toHaveLength(5001)
  calls[0]?.answer()
  expect(calls.at(-1)?.units).toEqual([2])
})

test('an operation for which storageKey throws fails alone', async () => {
  const { calls, settled, apply } = heldKeys((key) => {
    if (key === 'bad') throw new Error('no name for it')
    return key
  })
  apply(reward(minutes, 1, 'bad'), reward(minutes, 2))
  apply(reward(minutes, 3, 'bad'))
  calls[0]?.answer()
  await promisesRun()
  expect(settled).toEqual([['held: no name for it'], ['held: no name for it', 2]])
})
