import { subjectsNamed, tallyOf } from './main.js'
import { describe as textOf } from './run-traces.js'
import type { Subject } from './subjects.js'

const LOCAL = ['memory', 'compareAndSwapStore', 'transactionStore', 'ownerStore']

test.each(LOCAL)('on 100 random traces, every figure of %s equals the model', async (name) => {
  const [subject] = subjectsNamed([name])
  if (subject === undefined) throw new Error(`There is no store ${name}.`)
  const { steps, differences } = await tallyOf(subject, {
    stores: [name],
    seed: Date.now() % 1e9,
    traces: 100,
    seconds: 20,
  })
  expect(differences.map(textOf)).toEqual([])
  expect(steps).toBeGreaterThan(1000)
})

/** Traces that once differed, by what their last steps do. */
const ONCE_DIFFERENT = [
  [
    'a refund after its window, while a ban counts denials, and a step back',
    'compareAndSwapStore',
    882_494_056,
  ],
  ['such a refund, after a charge of fewer units', 'memory', 1_863_094],
  ['a refund of everything once a ban counts no longer, and a step back', 'transactionStore', 975_907_536],
  ['a denial by a key that a clock ahead has written, beside one behind', 'compareAndSwapStore', 29_621_751],
] as const

test.each(ONCE_DIFFERENT)('%s: %s equals the model', async (_, name, seed) => {
  const [subject] = subjectsNamed([name])
  const { differences } = await tallyOf(subject as Subject, { stores: [name], seed, traces: 1, seconds: 20 })
  expect(differences.map(textOf)).toEqual([])
})

test('an unknown store is named, beside those that exist', () => {
  expect(() => subjectsNamed(['mem'])).toThrow('There is no store mem. Use one of: memory, ')
})
