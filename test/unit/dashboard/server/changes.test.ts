import type { Frame, ShownProcess } from '../../../../src/dashboard/figures/shown.js'
import { Changes, type View } from '../../../../src/dashboard/server/changes.js'
import { client, detail, type GivenFigures, givenFigures, row, series } from './page-figures.js'

const OVERVIEW: View = { search: '' }

let figures: GivenFigures
let changes: Changes

beforeEach(() => {
  figures = givenFigures()
  changes = new Changes(figures)
})

const since = (tick: number, view = OVERVIEW): Frame => JSON.parse(changes.frameSince(tick, view))

const event = (i: number) => ({ id: `e${i}`, atMs: i, kind: 'release', text: `${i}` }) as const

test('the first frame has everything, and a later one what has changed', () => {
  figures.shown.rows = [row('a', 1), row('b', 1)]
  figures.shown.series = new Map([['a', series(0, [1, 2])]])
  figures.shown.events = [event(1)]
  changes.advance(1000)
  expect(since(0)).toEqual({
    atMs: 1000,
    rows: [row('a', 1), row('b', 1)],
    series: { a: series(0, [1, 2]) },
    outages: [],
    processes: [],
    headlines: [],
    problems: [],
    events: [event(1)],
  })
  changes.advance(2000)
  expect(since(1)).toEqual({ atMs: 2000 })
  figures.shown.rows = [row('a', 1), row('b', 2)]
  figures.shown.series = new Map([['a', series(10_000, [2, 3])]])
  figures.shown.events = [event(1), event(2)]
  changes.advance(3000)
  expect(since(2)).toEqual({
    atMs: 3000,
    rows: [row('b', 2)],
    series: { a: series(20_000, [3]) },
    events: [event(2)],
  })
})

test('a page that has missed frames gets all that has changed since, once', () => {
  figures.shown.rows = [row('a'), row('b'), row('c')]
  changes.advance(1)
  figures.shown.rows = [row('a', 1), row('b'), row('c')]
  changes.advance(2)
  figures.shown.rows = [row('a', 1), row('b', 1), row('c')]
  changes.advance(3)
  expect(since(1).rows).toEqual([row('a', 1), row('b', 1)])
  expect(since(2).rows).toEqual([row('b', 1)])
  expect(since(3).rows).toBeUndefined()
})

test('what has gone is also a change: an outage that is over, a process', () => {
  const alive: ShownProcess = {
    id: 'p',
    host: 'web',
    pid: 7,
    version: '1',
    startedAtMs: 0,
    lastSeenMs: 5,
    state: 'alive',
    share: 1,
    isThis: false,
  }
  figures.shown.outages = [
    { store: 'redis', servers: [], sinceMs: 1, effects: [], decisions: 0, processes: 1 },
  ]
  figures.shown.processes = [alive]
  figures.shown.problems = ['redis is slow']
  changes.advance(1)
  expect(since(0).headlines).toMatchObject([{ finding: { kind: 'store-outage', level: 'critical' } }])
  expect(since(0).problems).toEqual(['redis is slow'])
  figures.shown.problems = []
  figures.shown.outages = []
  figures.shown.processes = [{ ...alive, state: 'gone' }]
  changes.advance(2)
  expect(since(1)).toMatchObject({
    outages: [],
    problems: [],
    processes: [{ state: 'gone' }],
    headlines: [{ finding: { kind: 'process-gone' } }],
  })
})

test('a page gets the last 50 events at first, and then each one that is new', () => {
  figures.shown.events = Array.from({ length: 60 }, (_, i) => event(i))
  changes.advance(1)
  expect(since(0).events?.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, i) => `e${i + 10}`))
  figures.shown.events = Array.from({ length: 120 }, (_, i) => event(i + 20))
  changes.advance(2)
  expect(since(1).events?.map(({ id }) => id)).toEqual(Array.from({ length: 80 }, (_, i) => `e${i + 60}`))
})

describe('the details of a limiter', () => {
  const view: View = { limiter: 'api', search: '' }

  beforeEach(() => figures.shown.details.set('api', detail('api', [client('ada'), client('bob')])))

  test('are sent to the pages that show it, as far as they have changed', () => {
    changes.advance(1)
    expect(since(0, view).detail).toEqual({ ...detail('api', [client('ada'), client('bob')]), matching: 2 })
    expect(since(0)).not.toHaveProperty('detail')
    changes.advance(2)
    expect(since(1, view)).not.toHaveProperty('detail')
    figures.shown.details.set('api', detail('api', [client('ada')]))
    changes.advance(3)
    expect(since(2, view).detail).toMatchObject({ deniedClients: 1, matching: 1 })
  })

  test('are sent whole to a page that opens them between two ticks, and to one that comes back', () => {
    changes.advance(1)
    changes.advance(2)
    expect(since(0, view)).toHaveProperty('detail')
    changes.advance(3)
    changes.advance(4) // nobody has asked meanwhile
    expect(since(3, view)).toHaveProperty('detail')
  })

  test('are read once per tick, however many pages show them', () => {
    const read = jest.spyOn(figures, 'detail')
    changes.advance(1)
    for (let page = 0; page < 20; page++) since(0, view)
    expect(read).toHaveBeenCalledTimes(1)
    since(0, { ...view, search: 'ada' })
    expect(read).toHaveBeenCalledTimes(2)
  })

  test('are searched for each page', () => {
    changes.advance(1)
    expect(since(0, { ...view, search: ' BO ' }).detail).toMatchObject({
      denied: [{ identity: 'bob' }],
      deniedClients: 2,
      matching: 1,
    })
  })

  test('of a limiter that does not exist are none', () => {
    changes.advance(1)
    for (const limiter of ['none', '__proto__', ''])
      expect(since(0, { limiter, search: '' })).not.toHaveProperty('detail')
  })
})

test('limiters may have any name', () => {
  const names = ['__proto__', 'constructor', 'a"b', '\u2028']
  figures.shown.rows = names.map((name) => row(name))
  figures.shown.series = new Map(names.map((name) => [name, series(0, [1])]))
  changes.advance(1)
  const frame = since(0)
  expect(frame.rows?.map(({ name }) => name)).toEqual(names)
  expect(Object.keys(frame.series ?? {})).toEqual(names)
})
