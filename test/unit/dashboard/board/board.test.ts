import { createLimiter, fixedWindow, memoryStore, type Store } from 'headgate'
import { customStore } from 'headgate/store'
import { type Board, boardOf } from '../../../../src/dashboard/board/board.js'
import { LimiterWatch } from '../../../../src/dashboard/figures/limiter-watch.js'
import { CHART_SLOTS, SLOT_MS } from '../../../../src/dashboard/figures/traffic.js'
import { Group } from '../../../../src/dashboard/shared/group.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { sharedDocuments, sharedStore } from '../shared/shared-documents.js'

/** The start of a slot. */
const START_MS = 1_790_000_000_000
const PER_SECOND = 5

let shared: ReturnType<typeof sharedDocuments>
let boards: Board[]

beforeEach(() => {
  jest.useFakeTimers({ now: START_MS })
  shared = sharedDocuments()
  boards = []
})
afterEach(() => {
  for (const board of boards) void board.stop()
  jest.useRealTimers()
})

/** A process that counts requests, on a store that carries its notes. */
function processOf(name: string) {
  const store = sharedStore(shared.documents)
  const policy = fixedWindow({ limit: 1e9, window: '1h' })
  const limiter = createLimiter<string>({ name: 'api', policy, key: (id) => id, store })
  const watch = new LimiterWatch({ name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection })
  const { documents } = shared
  const options = { store: 'redis', prefix: 'hg', documents, isShared: true, watches: [watch], dashboard: 0 }
  const identity = { id: name, host: name, pid: 1, version: '', startedAtMs: Date.now() }
  const group = new Group(options, Date.now, identity)
  return { limiter, watch, publish: () => group.tick() }
}

async function boardFor({ watch }: ReturnType<typeof processOf>): Promise<Board> {
  const board = boardOf([watch])
  boards.push(board)
  return board
}

/** The points of the chart: requests a second of each slot, from the first request on. */
function pointsOf(board: Board): number[] {
  const { fromMs = 0, allowed = [] } = board.series().get('api') ?? {}
  const before = (START_MS - fromMs) / SLOT_MS
  return allowed.slice(before).map((count) => (count ?? 0) / (SLOT_MS / 1000))
}

test('every point of the chart is true, whenever the processes report, and whenever the page is read', async () => {
  const processes = ['own', 'two', 'three', 'four'].map(processOf)
  const [own, ...others] = processes as [ReturnType<typeof processOf>, ...ReturnType<typeof processOf>[]]
  const board = await boardFor(own)
  for (let second = 0; second < 40; second++) {
    for (const { limiter } of processes) for (let i = 0; i < PER_SECOND; i++) await limiter.charge('ada')
    for (const [i, { publish }] of others.entries()) if (second % 2 === i % 2) await publish()
    await board.refresh()
    const points = pointsOf(board)
    expect(points).toEqual(points.map(() => 4 * PER_SECOND))
    expect(points.length).toBeGreaterThanOrEqual(Math.floor((second - 4) / 10))
    jest.setSystemTime(Date.now() + 1000)
  }
})

test('a process that stops reporting holds the chart up until it counts as gone', async () => {
  const [own, two] = [processOf('own'), processOf('two')]
  const board = await boardFor(own)
  await two.limiter.charge('ada')
  await two.publish()
  const lastDrawn = async () => {
    await board.refresh()
    const { fromMs = 0, allowed = [] } = board.series().get('api') ?? {}
    expect(allowed.length).toBeGreaterThanOrEqual(CHART_SLOTS - 3)
    return (fromMs - START_MS) / SLOT_MS + allowed.length - 1
  }
  const drawn: number[] = []
  for (let slot = 0; slot < 5; slot++) {
    drawn.push(await lastDrawn())
    for (let second = 0; second < SLOT_MS / 1000; second++) {
      jest.setSystemTime(Date.now() + 1000)
      await board.refresh()
    }
  }
  expect(drawn).toEqual([-1, -1, 1, 2, 3])
})

test('a store that is unavailable is probed while a page is open, so that the end of an outage is seen', async () => {
  let isUp = false
  const memory = memoryStore()
  const store: Store = customStore({
    ...memory,
    name: 'remote',
    async apply(operations) {
      if (isUp) return memory.apply(operations)
      throw new Error('connection lost')
    },
  })
  const limiter = createLimiter<string>({
    limit: 8,
    window: '1m',
    key: (id) => id,
    store,
    onStoreError: 'local',
    fallbackShare: 0.5,
  })
  limiter.events.on('storeError', () => undefined)
  const watch = new LimiterWatch({ name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection })
  const board = await boardFor({ watch } as ReturnType<typeof processOf>)
  for (let i = 0; i < 20; i++) await limiter.charge('ada')
  await board.refresh()
  expect(board.rows()).toMatchObject([{ store: 'remote', storeState: 'open' }])
  expect(board.outages()).toEqual([
    {
      store: 'remote',
      servers: [],
      sinceMs: START_MS,
      effects: [{ limiter: 'api', text: 'each process counts on its own, and allows 50% of each limit' }],
      decisions: 20,
      processes: 1,
      process: expect.stringContaining(`(pid ${process.pid})`),
      reporting: 1,
    },
  ])
  const detail = board.detail('api')
  expect(detail?.limits).toMatchObject([
    { kind: 'token-bucket', limit: 4, isLocal: true, allowed: 4, denied: 16 },
    { kind: 'token-bucket', limit: 8, isLocal: false, allowed: 0, denied: 0 },
  ])
  expect(detail?.near).toMatchObject([{ limit: 4, isLocal: true }])
  expect(detail?.store).toMatchObject({ calls: expect.any(Number), failures: expect.any(Number) })
  isUp = true
  for (let i = 0; i < 20 && board.outages().length > 0; i++) {
    await board.refresh()
    await jest.advanceTimersByTimeAsync(1000)
  }
  expect(board.outages()).toEqual([])
  expect(board.rows()).toMatchObject([{ storeState: 'closed' }])
})
