import { pageModule } from '../../../support/page-module.js'

interface Model {
  atMs: number
  rows: Map<string, { name: string; mode: string }>
  series: Map<string, { allowed: (number | null)[] }>
  outages: unknown[]
  events: { id: string; atMs: number }[]
  detail: unknown
  isKnown: boolean
}

const { createModel, applyFrame, addEvents } = pageModule<{
  createModel(): Model
  applyFrame(model: Model, frame: object): void
  addEvents(model: Model, events: readonly object[]): void
}>('model.js')

test('a frame changes what it has, and leaves the rest as it is', () => {
  const model = createModel()
  expect(model.isKnown).toBe(false)
  const series = { stepMs: 10_000, fromMs: 0, allowed: [1], denied: [0] }
  applyFrame(model, {
    atMs: 5,
    rows: [{ name: 'a', mode: 'x' }, { name: 'b' }],
    series: { a: series },
    outages: [1],
  })
  applyFrame(model, {
    atMs: 6,
    rows: [{ name: 'a', mode: 'y' }],
    series: { a: { ...series, fromMs: 10_000 } },
  })
  expect([model.atMs, model.isKnown, Array.from(model.rows.values())]).toEqual([
    6,
    true,
    [{ name: 'a', mode: 'y' }, { name: 'b' }],
  ])
  expect(model.series.get('a')?.allowed).toEqual([1, 1])
  expect(model.outages).toEqual([1])
  applyFrame(model, { atMs: 7, outages: [] })
  expect(model.outages).toEqual([])
})

test('a limiter may have any name', () => {
  const model = createModel()
  const series = { stepMs: 10_000, fromMs: 0, allowed: [1], denied: [0] }
  applyFrame(
    model,
    JSON.parse(`{"atMs":1,"rows":[{"name":"__proto__"}],"series":{"__proto__":${JSON.stringify(series)}}}`),
  )
  expect([Array.from(model.rows.keys()), model.series.get('__proto__')]).toEqual([['__proto__'], series])
})

test('events are in order, each once, and the last 1,000 are kept', () => {
  const model = createModel()
  const event = (i: number) => ({ id: `e${i}`, atMs: i })
  addEvents(model, [event(3), event(5)])
  addEvents(model, [event(5), event(4), event(3)])
  expect(model.events.map(({ id }) => id)).toEqual(['e3', 'e4', 'e5'])
  const before = model.events
  addEvents(model, [event(4)])
  expect(model.events).toBe(before)
  addEvents(
    model,
    Array.from({ length: 1000 }, (_, i) => event(10 + i)),
  )
  expect([model.events.length, model.events[0]?.id]).toEqual([1000, 'e10'])
})
