import fc from 'fast-check'
import { SeriesChanges } from '../../../../src/dashboard/server/series-changes.js'
import { series } from './page-figures.js'

test('only the steps from the first change on are sent', () => {
  const changes = new SeriesChanges()
  expect(changes.since(0)).toBeUndefined()
  changes.advance(series(0, [1, 2, 3]), 1)
  expect(changes.since(0)).toEqual(series(0, [1, 2, 3]))
  changes.advance(series(10_000, [2, 3, 4]), 2)
  expect(changes.since(1)).toEqual(series(30_000, [4]))
  changes.advance(series(10_000, [2, 9, 4]), 3) // a process has reported late
  expect(changes.since(2)).toEqual(series(20_000, [9, 4]))
  expect(changes.since(3)).toBeUndefined()
  expect(changes.since(0)).toEqual(series(10_000, [2, 9, 4]))
})

test('a step that becomes known or unknown has changed', () => {
  const changes = new SeriesChanges()
  changes.advance(series(0, [null, 2]), 1)
  changes.advance(series(0, [1, 2]), 2)
  expect(changes.since(1)).toEqual(series(0, [1, 2]))
  changes.advance(series(0, [1, null]), 3)
  expect(changes.since(2)).toEqual(series(10_000, [null]))
})

test('after a clock that jumps, and with steps of another length, everything is sent again', () => {
  const changes = new SeriesChanges()
  changes.advance(series(1_000_000, [1, 2]), 1)
  changes.advance(series(0, [1, 2]), 2)
  expect(changes.since(1)).toEqual(series(0, [1, 2]))
  changes.advance({ ...series(0, [1, 2]), stepMs: 5000 }, 3)
  expect(changes.since(2)).toMatchObject({ stepMs: 5000, allowed: [1, 2] })
})

test('a page that adds what it is sent has the series, whatever it has missed', () => {
  const step = fc.record({
    moved: fc.nat(3),
    isRead: fc.boolean(),
    counts: fc.array(fc.nat(2), { minLength: 5, maxLength: 5 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const changes = new SeriesChanges()
      const page = new Map<number, number | null>()
      let [sentTick, fromMs] = [0, 0]
      for (const [i, { moved, isRead, counts }] of steps.entries()) {
        fromMs += 10_000 * moved
        changes.advance(series(fromMs, counts), i + 1)
        if (!isRead) continue
        const sent = changes.since(sentTick)
        for (const [at, count] of sent?.allowed.entries() ?? [])
          page.set((sent?.fromMs ?? 0) + at * 10_000, count)
        sentTick = i + 1
        expect(counts.map((_, at) => page.get(fromMs + at * 10_000))).toEqual(counts)
      }
    }),
  )
})
