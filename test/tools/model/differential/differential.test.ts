import { subjectsNamed, tallyOf } from './main.js'
import { describe as textOf } from './run-traces.js'

const LOCAL = ['memory', 'compareAndSwapStore', 'transactionStore', 'ownerStore']

test.each(LOCAL)('on 200 random traces, every figure of %s equals the model', async (name) => {
  const [subject] = subjectsNamed([name])
  if (subject === undefined) throw new Error(`There is no store ${name}.`)
  const { steps, differences } = await tallyOf(subject, {
    stores: [name],
    seed: Date.now() % 1e9,
    traces: 200,
    seconds: 20,
  })
  expect(differences.map(textOf)).toEqual([])
  expect(steps).toBeGreaterThan(2000)
})

test('an unknown store is named, beside those that exist', () => {
  expect(() => subjectsNamed(['mem'])).toThrow('There is no store mem. Use one of: memory, ')
})
