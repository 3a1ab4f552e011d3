import { candidateLimits, createLimiter, fixedWindow, memoryStore } from 'headgate'
import type { Documents } from 'headgate/store'
import { boardOf } from '../../../../src/dashboard/figures/board.js'
import { LimiterWatch } from '../../../../src/dashboard/figures/limiter-watch.js'
import { mergeReports } from '../../../../src/dashboard/figures/merge.js'
import type { LimiterReport } from '../../../../src/dashboard/figures/report.js'
import { type SharedReports, sharedReports } from '../../../../src/dashboard/figures/shared-reports.js'
import { SLOT_MS } from '../../../../src/dashboard/figures/traffic.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { reportOf, trafficOf } from './reports.js'
import { sharedDocuments, sharedStore } from './shared-documents.js'

const START_MS = 1_790_000_000_000
const MINUTE_MS = 60_000

/** Documents in memory, in place of those of Redis, which can fail or hang. */
function exchangeWithFaults() {
  const { documents, texts } = sharedDocuments()
  const hanging: (() => void)[] = []
  const calls: string[] = []
  let mode: 'up' | 'failing' | 'hanging' = 'up'
  async function call<T>(name: string, run: () => Promise<T>): Promise<T> {
    calls.push(name)
    if (mode === 'failing') throw new Error('connection lost')
    if (mode === 'hanging') await new Promise<void>((resolve) => hanging.push(resolve))
    return run()
  }
  const exchange: Documents = {
    read: (requests) => call('read', () => documents.read(requests)),
    replace: (...change) => call('write', () => documents.replace(...change)),
  }
  return {
    exchange,
    texts,
    calls,
    fail: () => {
      mode = 'failing'
    },
    hang: () => {
      mode = 'hanging'
    },
    recover: () => {
      mode = 'up'
      for (const resolve of hanging.splice(0)) resolve()
    },
  }
}

type Exchange = ReturnType<typeof exchangeWithFaults>

let nowMs: number
let shared: Exchange

beforeEach(() => {
  nowMs = START_MS
  shared = exchangeWithFaults()
})
afterEach(() => jest.useRealTimers())

/** A process that reports what it is given. */
function processOf(name: string, report: () => LimiterReport): SharedReports {
  const store = sharedStore(shared.exchange)
  const inspection = { store, limiterScope: 'hg-api' } as unknown as Inspection
  return sharedReports({ inspection, report }, () => nowMs, name) as SharedReports
}

const now = () => Math.floor(nowMs / SLOT_MS)
const counting = (allowed: number) => () => reportOf({ traffic: trafficOf(now(), [allowed]) })
const sumOf = (reports: SharedReports, own: LimiterReport) => mergeReports([own, ...reports.others()])

test('a store in memory shares nothing', () => {
  const inspection = { store: memoryStore(), limiterScope: 'hg-api' } as unknown as Inspection
  expect(sharedReports({ inspection, report: () => reportOf() })).toBeUndefined()
})

test('a process reads what the others wrote, and not what it wrote itself', async () => {
  const [one, two] = [processOf('one', counting(1)), processOf('two', counting(2))]
  await Promise.all([one.publish(), two.publish()])
  await Promise.all([one.refresh(), two.refresh()])
  expect(one.others()).toEqual([counting(2)()])
  expect(two.others()).toEqual([counting(1)()])
  expect([one.processes(), two.processes()]).toEqual([2, 2])
  expect([one.problem(), two.problem()]).toEqual([undefined, undefined])
})

test('nothing is written while nothing is counted, except once a slot', async () => {
  const startSlot = now()
  const slotsAgo = (counts: number[]) => [...counts, ...Array<number>(now() - startSlot).fill(0)]
  let counts = [3]
  const one = processOf('one', () => reportOf({ traffic: trafficOf(now(), slotsAgo(counts)) }))
  const writes = () => shared.calls.filter((call) => call === 'write').length
  for (let i = 0; i < 60; i++) {
    await one.publish()
    nowMs += 1000
  }
  expect(writes()).toBe(12)
  counts = [4]
  await one.publish()
  await one.publish()
  expect(writes()).toBe(13)
})

describe('a process that has ended', () => {
  const store = { ...reportOf().store, state: 'open', calls: 5, failures: 5 } as const
  const client = { limitName: 'api', identity: 'ada' }
  const figures = {
    name: 'api',
    kind: '',
    limit: 1,
    windowMs: 1000,
    isLocal: false,
    allowed: 1,
    denied: 1,
    peak: 1,
  }
  let one: SharedReports
  let own: LimiterReport

  beforeEach(async () => {
    const near = [{ ...client, limit: 1, remaining: 0, isLocal: false }]
    const denied = [{ ...client, denied: 7 }]
    const report = { traffic: trafficOf(now(), [5]), store, near, denied, limits: [figures] }
    await processOf('ended', () => reportOf(report)).publish()
    one = processOf('one', counting(0))
  })

  const readAfter = async (ms: number) => {
    nowMs = START_MS + ms
    await one.refresh()
    own = reportOf({ traffic: trafficOf(now(), []) })
    return sumOf(one, own)
  }

  test('counts as living for a minute after its last report', async () => {
    expect(await readAfter(MINUTE_MS - 1)).toMatchObject({ limits: [figures], near: [client], store })
    expect(one.processes()).toBe(2)
    await readAfter(MINUTE_MS)
    expect(one.processes()).toBe(1)
  })

  test('has its requests in the chart for 15 minutes, and no limits, clients and state of the store', async () => {
    const { traffic, limits, near, denied, store } = await readAfter(14 * MINUTE_MS)
    expect(traffic.allowed.reduce((sum, count) => sum + count, 0)).toBe(5)
    expect(denied).toEqual([{ ...client, denied: 7 }])
    expect({ limits, near, store }).toEqual({ limits: [], near: [], store: own.store })
    expect((await readAfter(15 * MINUTE_MS)).traffic).toEqual(own.traffic)
  })

  test('leaves no note after 15 minutes', async () => {
    await readAfter(15 * MINUTE_MS - 1)
    expect(shared.texts).toEqual([expect.stringContaining('"ended"')])
    await readAfter(15 * MINUTE_MS)
    expect(shared.texts).toEqual([''])
  })

  test('leaves no note either if its clock was a year ahead', async () => {
    const note = JSON.parse(shared.texts[0] as string)
    shared.texts[0] = JSON.stringify({ ...note, atMs: START_MS + 365 * 86_400_000 })
    expect((await readAfter(0)).denied).toEqual([])
    expect(shared.texts).toEqual([''])
  })
})

describe('while the store', () => {
  let one: SharedReports

  beforeEach(async () => {
    jest.useFakeTimers()
    one = processOf('one', counting(1))
    await processOf('two', counting(2)).publish()
    await one.refresh()
    expect(one.processes()).toBe(2)
  })

  test('fails, the figures are of this process alone, and say why', async () => {
    shared.fail()
    await Promise.all([one.refresh(), one.publish()])
    expect(one.problem()).toBe('redis: connection lost')
    expect([one.others(), one.processes()]).toEqual([[], 1])
    shared.recover()
    await one.refresh()
    expect(one.problem()).toBe('redis: connection lost') // of the report, which others miss
    await one.publish()
    expect([one.problem(), one.processes()]).toEqual([undefined, 2])
  })

  test('hangs, a call takes 800 ms at most, and no further calls are sent', async () => {
    shared.hang()
    shared.calls.length = 0
    for (let i = 0; i < 5; i++) {
      const done = Promise.all([one.refresh(), one.publish()])
      await jest.advanceTimersByTimeAsync(810)
      await done
    }
    expect(shared.calls).toEqual(['read', 'read'])
    expect(one.problem()).toBe('redis: no reply within 800 ms')
    shared.recover()
    await Promise.all([one.refresh(), one.publish()])
    await Promise.all([one.refresh(), one.publish()])
    expect([one.problem(), one.processes()]).toEqual([undefined, 2])
  })
})

/** Notes that are no note of this version, by what is wrong with them. */
function wrongNotes(): [string, string][] {
  const report = reportOf({ traffic: trafficOf(now(), [1]) })
  const other = (own: object) =>
    JSON.stringify({ process: 'two', atMs: START_MS, report: { ...report, ...own } })
  const { traffic, store } = report
  const near = { limitName: 'api', identity: 'ada', limit: 1, remaining: 0, isLocal: false }
  const counts = { allowed: 1, denied: 1, peak: 1 }
  const limit = { name: 'api', kind: '', limit: 1, windowMs: 1000, isLocal: false, ...counts }
  const clients = { clients: [], deniedClients: [], limits: [] }
  const wrongCandidate = { sinceMs: 1, requests: 1, denied: 1, newlyDenied: 1, newlyAllowed: 1, limits: [] }
  return [
    ['no JSON', '{'],
    ['nothing', ''],
    ['null', 'null'],
    ['a number', '1'],
    ['a list', '[]'],
    ['no report', JSON.stringify({ process: 'two', atMs: START_MS })],
    ['a report that is null', JSON.stringify({ process: 'two', atMs: START_MS, report: null })],
    ['no process', JSON.stringify({ atMs: START_MS, report })],
    ['no time', JSON.stringify({ process: 'two', report })],
    ['an infinite time', other({}).replace(`"atMs":${START_MS}`, '"atMs":1e999')],
    ['no traffic', other({ traffic: undefined })],
    ['traffic without its time', other({ traffic: { ...traffic, lastSlot: undefined } })],
    ['too few slots', other({ traffic: { ...traffic, allowed: [1] } })],
    ['too many slots', other({ traffic: { ...traffic, denied: [...traffic.denied, 1] } })],
    ['a slot that is null', other({ traffic: { ...traffic, allowed: traffic.allowed.map(() => null) } })],
    ['slots of text', other({ traffic: { ...traffic, allowed: traffic.allowed.map(() => '1') } })],
    ['negative counts', other({ traffic: { ...traffic, allowed: traffic.allowed.map(() => -1) } })],
    ['limits that are null', other({ limits: [null] })],
    ['a limit without numbers', other({ limits: [{ name: 'api' }] })],
    ['a client without what is left', other({ near: [{ ...near, remaining: undefined }] })],
    ['a client without identity', other({ near: [{ ...near, identity: undefined }] })],
    ['an endless list of clients', other({ near: Array(5000).fill(near) })],
    ['a denied client without a count', other({ denied: [{ limitName: 'api', identity: 'ada' }] })],
    ['a limit that is neither local nor not', other({ limits: [{ ...limit, isLocal: 1 }] })],
    [
      'requests a second that are text',
      other({ traffic: { ...traffic, perSecond: { allowed: '1', denied: 0 } } }),
    ],
    ['an outage without a beginning', other({ store: { ...store, outage: { allowed: 1 } } })],
    ['clients of a candidate that are text', other({ candidateClients: { ...clients, clients: ['x'] } })],
    ['lists that are objects', other({ limits: {}, near: {}, denied: {} })],
    ['no store', other({ store: undefined })],
    ['a store in no known state', other({ store: { ...store, state: '__proto__' } })],
    ['a store without latencies', other({ store: { ...store, latency: [] } })],
    ['latencies that are text', other({ store: { ...store, latency: store.latency.map(() => 'x') } })],
    ['a candidate without numbers', other({ candidate: {} })],
    ['a candidate with one number missing', other({ candidate: wrongCandidate })],
    ['a candidate that is null', other({ candidate: null })],
  ]
}

test.each(wrongNotes())('a note is ignored that is or has %s', async (_, text) => {
  const one = processOf('one', counting(1))
  shared.texts.push(text)
  shared.texts.push(JSON.stringify({ process: 'three', atMs: START_MS, report: counting(3)() }))
  nowMs = START_MS
  await one.refresh()
  expect(one.problem()).toBeUndefined()
  expect(one.others()).toEqual([counting(3)()])
})

test('a note with figures of a candidate and of an outage is read', async () => {
  const limits = [{ name: 'api', denied: 1, excessUnits: 1, deniedClients: 1, mostDenied: [] }]
  const clients = { clients: 1, deniedClients: 1 }
  const counts = { requests: 1, denied: 1, newlyDenied: 1, newlyAllowed: 0, failed: 0, ...clients }
  const report = reportOf({
    candidate: { sinceMs: START_MS, ...counts, limits },
    candidateClients: { clients: [7], deniedClients: [7], limits: [[7]] },
    store: {
      ...reportOf().store,
      outage: { sinceMs: 1, allowed: 1, denied: 0, local: 0, byStore: 0, processes: 1 },
    },
  })
  await processOf('two', () => report).publish()
  const one = processOf('one', counting(1))
  await one.refresh()
  expect(one.others()).toEqual([report])
})

test('the note of another version is removed once it is stale', async () => {
  const one = processOf('one', counting(1))
  shared.texts.push(JSON.stringify({ process: 'two', atMs: START_MS, report: { version: 2 } }))
  await one.refresh()
  expect(shared.texts).not.toEqual([''])
  nowMs += 15 * MINUTE_MS
  await one.refresh()
  expect(shared.texts).toEqual([''])
})

test('what a limiter reports is read by another process', async () => {
  const store = sharedStore(shared.exchange)
  const policy = fixedWindow({ limit: 1, window: '1m' })
  const key = (id: string) => id
  const limiter = createLimiter<string>({
    name: 'api',
    policy,
    key,
    store,
    candidate: candidateLimits({ policy, key }),
  })
  const watch = new LimiterWatch({ name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection })
  const board = boardOf([watch])
  await limiter.charge('ada')
  await limiter.charge('ada')
  await sharedReports(watch, Date.now, 'two')?.publish()
  await board.refresh()
  const [shown] = board.snapshot().limiters
  board.stop()
  expect(shown).toMatchObject({
    name: 'api',
    processes: 2,
    limits: [
      { name: 'api', kind: 'fixed-window', limit: 1, windowMs: 60_000, allowed: 2, denied: 2, peak: 1 },
    ],
    near: [{ limitName: 'api', limit: 1, remaining: 0 }],
    denied: [{ limitName: 'api', denied: 2 }],
    candidate: { requests: 4, denied: 2 },
  })
  expect(shown?.traffic.perSecond.allowed).toBeGreaterThan(0)
  expect(shown?.store).not.toHaveProperty('problem')
  expect(shared.texts).toHaveLength(1)
})

describe('the slot of a process', () => {
  const ownersOf = () => shared.texts.map((text) => text && JSON.parse(text).process)

  test('stays its own, also with 40 others, and all are read', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `process ${i}`)
    const all = names.map((name) => processOf(name, counting(1)))
    for (let round = 0; round < 2; round++) {
      await Promise.all(all.map((reports) => reports.publish()))
      expect(ownersOf().toSorted()).toEqual(names.toSorted())
      nowMs += SLOT_MS
    }
    await all[0]?.refresh()
    expect(all[0]?.processes()).toBe(40)
  })

  test('is taken by another process 15 minutes after the last report', async () => {
    await processOf('ended', counting(1)).publish()
    nowMs += 15 * MINUTE_MS - 1
    await processOf('early', counting(1)).publish()
    nowMs++
    await processOf('late', counting(1)).publish()
    expect(ownersOf()).toEqual(['late', 'early'])
  })

  test('that the store has lost, or another process has taken, is replaced by another', async () => {
    const reports = processOf('one', counting(1))
    const publish = async () => {
      nowMs += SLOT_MS
      await reports.publish()
      return ownersOf()
    }
    expect(await publish()).toEqual(['one'])
    shared.texts.length = 0
    expect(await publish()).toEqual(['one'])
    shared.texts[0] = JSON.stringify({ process: 'two', atMs: nowMs, report: {} })
    expect(await publish()).toEqual(['two', 'one'])
  })

  test('is the same for two dashboards of one process', async () => {
    const dashboards = [processOf('one', counting(1)), processOf('one', counting(2))]
    for (const reports of dashboards) await reports.publish()
    expect(ownersOf()).toEqual(['one'])
  })

  test('is read although the store has lost those before it', async () => {
    const [one, two] = [processOf('one', counting(1)), processOf('two', counting(2))]
    await one.publish()
    await two.publish()
    delete shared.texts[0]
    await one.refresh()
    expect(one.processes()).toBe(2)
  })
})
