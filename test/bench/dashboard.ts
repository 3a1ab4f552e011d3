import assert from 'node:assert/strict'
import { createLimiter, fixedWindow, memoryStore, type Store } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { type Board, boardOf } from '../../src/dashboard/board/board.js'
import { type LimiterWatch, watchAll } from '../../src/dashboard/figures/limiter-watch.js'
import { Changes } from '../../src/dashboard/server/changes.js'
import { Group } from '../../src/dashboard/shared/group.js'
import { type Inspection, inspectionOf } from '../../src/limiter/inspection.js'
import { startRedis } from '../support/servers/redis.js'
import { printTable, whole } from './harness/table.js'

const LIMITERS = 200
const DENIED_CLIENTS = 10_000
const PROCESSES = 4
/** A page is open for minutes, so that its code is compiled. */
const WARM_UP_SECONDS = 20
const SECONDS = 40
const DECISIONS = 100_000
const ROUNDS = 7

type Sent = ReturnType<typeof requestFrom>

/**
 * What the dashboard costs: each decision, and a process while a page is open, with 200 limiters, 10,000 denied
 * clients and four processes on Redis.
 */
export async function benchDashboard(): Promise<void> {
  await benchDecisions()
  for (const attacked of [5, LIMITERS]) await benchOpenPage(attacked)
}

/** Compares limiters with and without a dashboard, in turns. */
async function benchDecisions(): Promise<void> {
  const rows: string[][] = []
  for (const [name, limit] of [
    ['allowed', 1e9],
    ['denied', 1],
  ] as const) {
    const [without, withPage] = [limiterOf('plain', limit), limiterOf('watched', limit)]
    watchesOf([withPage])
    const spent = { without: [] as number[], withPage: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      spent.without.push(await nanosecondsEach(without))
      spent.withPage.push(await nanosecondsEach(withPage))
    }
    const [before, after] = [median(spent.without), median(spent.withPage)]
    rows.push([name, whole(before), whole(after), whole(after - before)])
  }
  printTable(
    `ns per decision in memory, ${whole(DECISIONS)} decisions of 1,000 addresses, medians of ${ROUNDS} rounds`,
    ['decision', 'without a dashboard', 'with one', 'difference'],
    rows,
  )
}

/** Measures what reports and frames take, with a page open all the time. */
async function benchOpenPage(attacked: number): Promise<void> {
  const server = await startRedis({ own: true })
  const client = new Redis(server.url, { autoResendUnfulfilledCommands: false })
  let nowMs = Date.now()
  const now = () => nowMs
  try {
    const before = heapBytes()
    const fleet = Array.from({ length: PROCESSES }, (_, i) => processOn(redisStore(client), i, attacked, now))
    for (const { attack } of fleet) await attack()
    const heap = (heapBytes() - before) / PROCESSES
    const [own, ...others] = fleet as [FleetProcess, ...FleetProcess[]]
    const board: Board = boardOf(own.watches, now)
    const changes = new Changes(board)
    const view = { limiter: 'limiter-0', search: '' }
    let spent = { report: 0, read: 0, frames: 0, bytes: 0 }
    await board.refresh()
    changes.advance(nowMs)
    for (let second = -WARM_UP_SECONDS; second < SECONDS; second++) {
      if (second === 0) spent = { report: 0, read: 0, frames: 0, bytes: 0 }
      for (const { attack } of fleet) await attack(20)
      await own.group.refresh() // says that a page is open
      if (second % 2 === 0) {
        for (const { group } of others) await group.tick()
        spent.report += await cpuMs(() => own.group.tick())
      }
      spent.read += await cpuMs(() => board.refresh())
      spent.frames += await cpuMs(async () => {
        changes.advance(nowMs)
        spent.bytes += Buffer.from(changes.frameSince(changes.tick - 1, view)).length
      })
      nowMs += 1000
    }
    assert.equal(board.problems().length, 0, board.problems().join())
    await board.stop()
    const perSecond = (ms: number) => `${(ms / SECONDS / 10).toFixed(2)} %`
    const documents = await documentBytes(client)
    printTable(
      `A process with an open page: ${LIMITERS} limiters, ${whole(DENIED_CLIENTS)} denied clients of ${attacked} of them, ${PROCESSES} processes`,
      ['what', 'of a core'],
      [
        ['its report, every two seconds', perSecond(spent.report)],
        ['reading and adding up all processes, every second', perSecond(spent.read)],
        ['findings, and the frame of a page that shows a limiter, every second', perSecond(spent.frames)],
        ['together', perSecond(spent.report + spent.read + spent.frames)],
      ],
    )
    printTable(
      'Sizes',
      ['what', 'bytes'],
      [
        ['the document of a process, written every two seconds', whole(documents)],
        ['the frame of a second', whole(spent.bytes / SECONDS)],
        ['heap of the counts of a process', whole(heap)],
      ],
    )
  } finally {
    client.disconnect()
    await server.stop()
  }
}

/** A process of a fleet, all of which are in this one. */
interface FleetProcess {
  readonly watches: readonly LimiterWatch[]
  readonly group: Group
  /** Denies clients: all of them, or some. Every limiter also allows a request. */
  attack(clients?: number): Promise<void>
}

function processOn(store: Store, index: number, attacked: number, now: () => number): FleetProcess {
  const memory = memoryStore()
  const limiters = Array.from({ length: LIMITERS }, (_, i) => limiterOf(`limiter-${i}`, 1, memory))
  const watches = watchesOf(limiters, now)
  const { documents } = store
  assert(documents !== undefined)
  // The requests are decided in memory: what counts here is what the dashboard does.
  for (const watch of watches) Object.assign(watch, { inspection: { ...watch.inspection, store } })
  const identity = { id: `process-${index}`, host: 'bench', pid: index, version: '1.0.0', startedAtMs: now() }
  // The page's own process reports elsewhere, since its board reads what the others report.
  const prefix = index === 0 ? 'own' : 'hg'
  const options = { store: 'redis', prefix, documents, isShared: true, watches, dashboard: 0 }
  let [sent, allowed] = [0, 0]
  return {
    watches,
    group: new Group(options, now, identity),
    async attack(clients = DENIED_CLIENTS) {
      for (let i = 0; i < clients; i++, sent++) {
        const request = requestFrom(index, sent % DENIED_CLIENTS)
        for (let times = 0; times < 2; times++) await limiters[sent % attacked]?.charge(request)
      }
      for (const limiter of limiters) await limiter.charge(requestFrom(100 + index, allowed++))
    },
  }
}

function limiterOf(name: string, limit: number, store: Store = memoryStore()) {
  return createLimiter<Sent>({ name, policy: fixedWindow({ limit, window: '1d' }), store })
}

function watchesOf(limiters: readonly ReturnType<typeof limiterOf>[], now: () => number = Date.now) {
  return watchAll(
    limiters.map((limiter) => {
      return { name: String(limiter.name), limiter, inspection: inspectionOf(limiter) as Inspection }
    }),
    undefined,
    now,
  )
}

function requestFrom(a: number, b: number) {
  const remoteAddress = `10.${a}.${b >> 8}.${b & 255}`
  return { method: 'POST', url: `/orders/${b}`, headers: {}, socket: { remoteAddress } }
}

async function nanosecondsEach(limiter: ReturnType<typeof limiterOf>): Promise<number> {
  const requests = Array.from({ length: 1000 }, (_, i) => requestFrom(9, i))
  const startMs = performance.now()
  for (let i = 0; i < DECISIONS; i++) await limiter.charge(requests[i % 1000] as Sent)
  return ((performance.now() - startMs) * 1e6) / DECISIONS
}

async function cpuMs(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function documentBytes(client: Redis): Promise<number> {
  return (await client.hget('own:dashboard:processes/0', 'text'))?.length ?? 0
}

function heapBytes(): number {
  global.gc?.()
  return process.memoryUsage().heapUsed
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
