import {
  candidateLimits,
  createLimiter,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  type Store,
  sharedSettings,
} from 'headgate'
import { type Board, boardOf } from '../../../../src/dashboard/board/board.js'
import { figuresOf } from '../../../../src/dashboard/board/figures.js'
import { watchAll } from '../../../../src/dashboard/figures/limiter-watch.js'
import { headlinesOf } from '../../../../src/dashboard/findings/headlines.js'
import { Group } from '../../../../src/dashboard/shared/group.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { type SharedDocuments, sharedDocuments, sharedStore } from '../shared/shared-documents.js'

/** The start of a step of five minutes. */
const START_MS = 1_790_000_100_000
const MINUTE_MS = 60_000

let shared: SharedDocuments
const boards: Board[] = []

beforeEach(() => {
  jest.useFakeTimers({ now: START_MS })
  shared = sharedDocuments()
})
afterEach(() => {
  for (const board of boards.splice(0)) void board.stop()
  jest.useRealTimers()
})

const from = (remoteAddress: string, url = '/login') => ({
  method: 'POST',
  url,
  headers: {},
  socket: { remoteAddress },
  body: { username: 'ada' },
})
type Sent = ReturnType<typeof from>

function watchesOf(names: readonly string[], store: Store, options: Partial<LimiterOptions<Sent>> = {}) {
  const limiters = names.map((name) =>
    createLimiter<Sent>({
      name,
      policy: fixedWindow({ limit: 5, window: '1h' }),
      store,
      ...options,
    } as LimiterOptions<Sent>),
  )
  const watches = watchAll(
    limiters.map((limiter) => ({
      name: String(limiter.name),
      limiter,
      inspection: inspectionOf(limiter) as Inspection,
    })),
  )
  return { limiters, watches }
}

/** This process: a board of some limiters. */
function thisBoard(names: readonly string[], store: Store = sharedStore(shared.documents), options = {}) {
  const { limiters, watches } = watchesOf(names, store, options)
  const board = boardOf(watches)
  boards.push(board)
  return { board, limiters }
}

/** Another process with the same limiters. */
function otherProcess(id: string, names: readonly string[], options = {}) {
  const { limiters, watches } = watchesOf(names, sharedStore(shared.documents), options)
  const { documents } = shared
  const identity = { id, host: id, pid: 7, version: '1.0.0', startedAtMs: Date.now() }
  const group = new Group(
    { store: 'redis', prefix: 'hg', documents, isShared: true, watches, dashboard: 0 },
    Date.now,
    identity,
  )
  return { limiters, group }
}

test('a row has the rates and the share of denials of all processes', async () => {
  const { board, limiters } = thisBoard(['api', 'idle'])
  const other = otherProcess('other', ['api'])
  for (let i = 0; i < 6; i++) await limiters[0]?.charge(from('203.0.113.7'))
  for (let i = 0; i < 8; i++) await other.limiters[0]?.charge(from('203.0.113.7'))
  jest.setSystemTime(Date.now() + 10_000)
  await other.group.tick()
  await board.refresh()
  expect(board.rows()).toEqual([
    expect.objectContaining({
      name: 'api',
      mode: 'enforce',
      store: 'redis',
      storeState: 'closed',
      hasSettings: false,
    }),
    expect.objectContaining({ name: 'idle', allowedPerSecond: 0, deniedPerSecond: 0, deniedShare: 0 }),
  ])
  const [api] = board.rows()
  expect([api?.allowedPerSecond, api?.deniedPerSecond, api?.deniedShare]).toEqual([1, 0.4, 0.4 / 1.4])
  expect(board.problems()).toEqual([])
})

test('the details of a limiter have what its candidate would have denied in all processes', async () => {
  const candidate = candidateLimits({ policy: fixedWindow({ limit: 2, window: '1h' }) })
  const { board, limiters } = thisBoard(['api', 'idle'], sharedStore(shared.documents), { candidate })
  const other = otherProcess('other', ['api'], { candidate })
  for (let i = 0; i < 3; i++) await limiters[0]?.charge(from('203.0.113.7'))
  for (let i = 0; i < 4; i++) await other.limiters[0]?.charge(from('203.0.113.8'))
  await other.group.tick()
  await board.refresh()
  expect(board.detail('api')?.candidate).toMatchObject({ requests: 7, clients: 2, newlyDenied: 3 })
  expect(board.detail('idle')?.candidate).toMatchObject({ requests: 0 })
})

test('the details of a limiter add up a client that several processes denied', async () => {
  const { board, limiters } = thisBoard(['api'])
  const other = otherProcess('other', ['api'])
  for (let i = 0; i < 7; i++) await limiters[0]?.charge(from('203.0.113.7'))
  jest.setSystemTime(Date.now() + 10_000)
  for (let i = 0; i < 8; i++) await other.limiters[0]?.charge(from('203.0.113.7', '/search'))
  await other.group.tick()
  await board.refresh()
  expect(board.detail('api')).toEqual({
    name: 'api',
    limits: [expect.objectContaining({ name: 'api', allowed: 10, denied: 5 })],
    denied: [
      {
        limitName: 'api',
        identity: '203.0.113.7',
        denied: 5,
        deniedPerSecond: expect.any(Number),
        firstDeniedMs: START_MS,
        lastDeniedMs: START_MS + 10_000,
        routes: [
          { route: 'POST /search', denied: 3 },
          { route: 'POST /login', denied: 2 },
        ],
        addresses: 1,
        networks: [{ network: '203.0.113.0/24', denied: 5 }],
      },
    ],
    deniedClients: 1,
    near: [expect.objectContaining({ identity: '203.0.113.7', remaining: 0 })],
    store: expect.objectContaining({ calls: expect.any(Number), failures: 0 }),
  })
  expect(board.detail('constructor')).toBeUndefined()
})

test('addresses behind an account are counted once, whichever process they reach', async () => {
  const key = () => 'ada'
  const { board, limiters } = thisBoard(['login'], sharedStore(shared.documents), { key })
  const other = otherProcess('other', ['login'], { key })
  for (let i = 0; i < 150; i++) await limiters[0]?.charge(from(`203.0.113.${i}`))
  for (let i = 100; i < 217; i++) await other.limiters[0]?.charge(from(`203.0.113.${i}`))
  await other.group.tick()
  await board.refresh()
  expect(board.detail('login')?.denied).toMatchObject([{ addresses: 212, denied: 257 }])
})

test('processes are listed with their shares, and one that vanished is named', async () => {
  const { board, limiters } = thisBoard(['api'])
  const other = otherProcess('other', ['api'])
  for (let i = 0; i < 3; i++) await other.limiters[0]?.charge(from('203.0.113.7'))
  await limiters[0]?.charge(from('203.0.113.7'))
  await other.group.tick()
  await board.refresh()
  const shown = () => board.processes().map(({ id, state, share, isThis }) => [isThis || id, state, share])
  expect(shown()).toEqual([
    [true, 'alive', 0.25],
    ['other', 'alive', 0.75],
  ])
  for (let i = 0; i < 40; i++) {
    jest.setSystemTime(Date.now() + 1000)
    await board.refresh()
  }
  expect(shown()).toEqual([
    [true, 'alive', 1],
    ['other', 'gone', 0.75],
  ])
  expect(board.events().map(({ kind }) => kind)).toContain('process-gone')
})

test('after a deploy that replaced 20 processes without closing them, nothing is wrong until one more ends', async () => {
  const { board } = thisBoard(['api'])
  const fleetOf = (name: string) => Array.from({ length: 20 }, (_, i) => otherProcess(`${name}${i}`, ['api']))
  const report = (fleet: ReturnType<typeof fleetOf>) => Promise.all(fleet.map(({ group }) => group.tick()))
  const states = () => {
    const all = board.processes().map(({ state }) => state)
    return Object.fromEntries([...new Set(all)].map((each) => [each, all.filter((s) => s === each).length]))
  }
  const seconds = async (count: number, fleet: ReturnType<typeof fleetOf>) => {
    for (let i = 0; i < count; i += 2) {
      jest.setSystemTime(Date.now() + 2000)
      await report(fleet)
      await board.refresh()
    }
  }
  const old = fleetOf('old')
  await seconds(20, old)
  jest.setSystemTime(Date.now() + 60 * MINUTE_MS)
  await seconds(20, old)
  const next = fleetOf('new')
  await seconds(20, [...old, ...next])
  await seconds(40, next)
  expect(states()).toEqual({ alive: 21, replaced: 20 })
  expect(headlinesOf([], [], board.processes())).toEqual([])
  await seconds(40, next.slice(1))
  expect(states()).toEqual({ alive: 20, replaced: 20, gone: 1 })
  expect(headlinesOf([], [], board.processes())).toMatchObject([{ finding: { kind: 'process-gone' } }])
})

test('the series has no counts of the time before anything was counted', async () => {
  const { board, limiters } = thisBoard(['api'])
  await limiters[0]?.charge(from('203.0.113.7'))
  jest.setSystemTime(START_MS + 25_000)
  await board.refresh()
  const { allowed = [], denied = [], fromMs = 0, stepMs } = board.series().get('api') ?? {}
  expect(stepMs).toBe(10_000)
  expect(allowed.filter((count) => count !== null)).toEqual([1, 0])
  expect(denied.filter((count) => count !== null)).toEqual([0, 0])
  expect(fromMs + 10_000 * allowed.indexOf(1)).toBe(START_MS)
})

test('the history of a day is the same for a process that starts later', async () => {
  const { board, limiters } = thisBoard(['api'])
  for (let step = 0; step < 6; step++) {
    for (let i = 0; i <= step; i++) await limiters[0]?.charge(from(`203.0.113.${10 * step + i}`))
    await jest.advanceTimersByTimeAsync(5 * MINUTE_MS)
  }
  await jest.advanceTimersByTimeAsync(2 * MINUTE_MS)
  const later = thisBoard(['api']).board
  for (const each of [board, later]) {
    await each.refresh()
    const { series, outages, yesterday } = (await each.history('api')) ?? {}
    expect(series?.allowed.filter((count) => count !== null)).toEqual([1, 2, 3, 4, 5, 6])
    expect(series?.fromMs).toBe(START_MS + 30 * MINUTE_MS - 288 * 5 * MINUTE_MS)
    expect([outages, yesterday]).toEqual([[], undefined])
    expect((await each.histories()).get('api')).toEqual(series)
  }
  expect(await board.history('toString')).toBeUndefined()
  expect(await board.demands('api')).toMatchObject([{ limitName: 'api', limit: 5, clients: 21 }])
})

test('limiters in memory have a history, and share nothing', async () => {
  const { board, limiters } = thisBoard(['local'], memoryStore())
  await limiters[0]?.charge(from('203.0.113.7'))
  await jest.advanceTimersByTimeAsync(7 * MINUTE_MS)
  await board.refresh()
  expect((await board.history('local'))?.series.allowed.at(-1)).toBe(1)
  expect([board.processes().length, shared.calls, board.problems()]).toEqual([1, [], []])
})

test('a limiter says whether its settings can be changed', async () => {
  const store = sharedStore(shared.documents)
  const { board } = thisBoard(['api'], store, { settings: sharedSettings(store) })
  expect(board.rows()[0]?.hasSettings).toBe(true)
})

test('while the store fails, the figures are of this process alone, which the page says', async () => {
  const { board, limiters } = thisBoard(['api'])
  const other = otherProcess('other', ['api'])
  await other.limiters[0]?.charge(from('203.0.113.7'))
  await other.group.tick()
  await limiters[0]?.charge(from('203.0.113.7'))
  await board.refresh()
  expect(board.processes()).toHaveLength(2)
  shared.set('fail')
  await board.refresh()
  expect(board.processes()).toHaveLength(1)
  expect(board.problems()).toEqual(['The figures cover only this process (redis: connection lost).'])
})

test('another format of a process is said, and left out', async () => {
  const { board } = thisBoard(['api'])
  const other = otherProcess('other', ['api'])
  await other.group.tick()
  const [[key = '', text = ''] = []] = [...shared.texts].filter(([name]) => name.includes('processes/'))
  shared.texts.set(key, text.replace('"headgate":1', '"headgate":2'))
  await board.refresh()
  expect(board.problems()).toEqual([
    'other (pid 7) runs version 1.0.0, whose figures cannot be added to these.',
  ])
  expect(board.processes()).toHaveLength(2)
})

test('an outage of one store shades no limiter of another store of the same kind', async () => {
  const groups = ['lost', 'other'].map((name, dashboard) => {
    const { documents } = sharedDocuments()
    const { watches } = watchesOf([name], sharedStore(documents))
    const options = { store: 'redis', prefix: 'hg', documents, isShared: true, watches, dashboard }
    return new Group(options, Date.now)
  })
  const [lost] = groups as [Group, Group]
  for (const [i, state] of ['open', 'closed'].entries()) {
    const atMs = START_MS - MINUTE_MS * (2 - i)
    lost.log.add({ id: state, atMs, kind: 'breaker', text: state, details: { store: 'redis', state } })
  }
  for (const group of groups) await group.tick()
  const figures = figuresOf(
    groups,
    groups.flatMap(({ options }) => options.watches),
    Date.now(),
  )
  const shaded = Array.from(figures.series(), ([name, { outages = [] }]) => [name, outages.length])
  expect(shaded).toEqual([
    ['lost', 1],
    ['other', 0],
  ])
})
