import fc from 'fast-check'
import {
  HISTORY_CODEC,
  type LimiterSteps,
  withSteps,
} from '../../../../src/dashboard/shared/history-document.js'

const NOW = 5_966_600
const DAY = 288

const finished = (step: number, allowed: number, denied = 0) => ({ step, allowed, denied, demands: [] })
const counts = (history: LimiterSteps | undefined) =>
  history?.steps.map(({ step, allowed, denied }) => [step - NOW, allowed, denied])

test('steps of processes add up, and a step that comes again counts once', () => {
  let history = withSteps(undefined, 'one', [finished(NOW, 3, 1), finished(NOW + 1, 4)])
  history = withSteps(history, 'two', [finished(NOW + 1, 5, 2)])
  expect(counts(history)).toEqual([
    [0, 3, 1],
    [1, 9, 2],
  ])
  expect(withSteps(history, 'one', [finished(NOW, 3, 1), finished(NOW + 1, 4)])).toBeUndefined()
  expect(counts(withSteps(history, 'one', [finished(NOW + 1, 4), finished(NOW + 2, 6)]))).toEqual([
    [0, 3, 1],
    [1, 9, 2],
    [2, 6, 0],
  ])
})

test('whatever is repeated, and in whatever order processes add, each step counts once', () => {
  const batches = fc.array(
    fc.tuple(fc.constantFrom('one', 'two', 'three'), fc.integer({ min: 1, max: 20 })),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(batches, (given) => {
      let history: LimiterSteps | undefined
      const reached = new Map<string, number>()
      for (const [process, length] of given) {
        history =
          withSteps(
            history,
            process,
            Array.from({ length }, (_, i) => finished(NOW + i, 1)),
          ) ?? history
        reached.set(process, Math.max(reached.get(process) ?? 0, length))
      }
      const expected = Array.from(
        { length: 20 },
        (_, i) => [...reached.values()].filter((each) => each > i).length,
      )
      expect(history?.steps.map(({ allowed }) => allowed) ?? []).toEqual(
        expected.filter((count) => count > 0),
      )
    }),
  )
})

test('two days and two hours are kept', () => {
  let history: LimiterSteps | undefined
  for (let i = 0; i < 700; i++) history = withSteps(history, 'one', [finished(NOW + i, 1)]) ?? history
  expect(history?.steps.length).toBe(600)
  expect(history?.steps[0]?.step).toBe(NOW + 100)
})

const week = () =>
  withSteps(
    undefined,
    'one',
    Array.from({ length: 2 * DAY }, (_, i) => finished(NOW + i, 1)),
  )

test('a clock that is a year ahead drops no step, and its own are dropped by the next process', () => {
  const wrong = withSteps(week(), 'wrong', [finished(NOW + 365 * DAY, 9)])
  expect(wrong?.steps).toHaveLength(2 * DAY + 1)
  const repaired = withSteps(wrong, 'two', [finished(NOW + 2 * DAY, 1)])
  expect(repaired?.steps).toHaveLength(2 * DAY + 1)
  expect(repaired?.steps.at(-1)).toEqual({ step: NOW + 2 * DAY, allowed: 1, denied: 0 })
})

test('a clock that is a year behind changes nothing, and one that is an hour behind adds its steps', () => {
  expect(withSteps(week(), 'wrong', [finished(NOW - 365 * DAY, 9)])).toBeUndefined()
  const late = withSteps(week(), 'late', [finished(NOW + 2 * DAY - 12, 9)])
  expect(late?.steps.find(({ step }) => step === NOW + 2 * DAY - 12)?.allowed).toBe(10)
})

test('processes that come and go are remembered for two days, and 2,000 of them at most', () => {
  let history: LimiterSteps | undefined
  for (let i = 0; i < 2500; i++)
    history = withSteps(history, `process-${i}`, [finished(NOW + Math.floor(i / 10), 1)]) ?? history
  expect(history?.added).toHaveLength(2000)
  history = withSteps(history, 'last', [finished(NOW + 900, 1)]) ?? history
  expect(history?.added.map(([id]) => id)).toEqual(['last'])
})

test('a history survives JSON, and what is wrong in it is left out', () => {
  const history = withSteps(undefined, 'one', [finished(NOW, 3, 1), finished(NOW + 2, 0)]) as LimiterSteps
  const json = JSON.parse(JSON.stringify(HISTORY_CODEC.encode(history)))
  expect(HISTORY_CODEC.decode(json)).toEqual(history)
  const steps = [...json.steps, null, [1], [1, -1, 0], [1, '2', 0], 'x', [NOW + 3, 1.5, 0]]
  expect(HISTORY_CODEC.decode({ added: [...json.added, null, ['x'], [7, 7]], steps })).toEqual(history)
  expect([{}, { steps: 7 }, { steps: null }].map((value) => HISTORY_CODEC.decode(value))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
