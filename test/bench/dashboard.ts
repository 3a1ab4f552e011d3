import { Redis } from 'ioredis'
import { startRedis } from '../support/servers/redis.js'
import type { Second } from './dashboard-child.js'
import { limiterOf, requestFrom, type Sent, watchesOf } from './dashboard-limiters.js'
import { type Child, startChild } from './harness/child.js'
import { printTable, whole } from './harness/table.js'

const LIMITERS = 200
const DENIED_CLIENTS = 10_000
const PROCESSES = 4
/** How many limiters deny them. */
const ATTACKED = [5, LIMITERS]
/** A page is open for minutes, so that its code is compiled. */
const WARM_UP_SECONDS = 40
const SECONDS = 60
/** Without a page: after a pause in which the others still report to it, and through two steps of the history. */
const PAUSE_SECONDS = 20
const CLOSED_SECONDS = 600
const DECISIONS = 100_000
const ROUNDS = 7
const HEAP_MB = 512

/** The most that an open page may take, in percent of a core. */
const GOAL_PERCENT = 3

/**
 * What the dashboard costs: each decision, and a process with and without an open page, with 200 limiters, 10,000
 * denied clients and four processes on Redis. Throws if an open page takes more than its goal.
 */
export async function benchDashboard(): Promise<void> {
  await benchDecisions()
  const missed: string[] = []
  for (const attacked of ATTACKED) {
    const percent = await benchFleet(attacked)
    if (percent > GOAL_PERCENT) missed.push(`${percent.toFixed(2)} % with ${attacked} limiters that deny`)
  }
  if (missed.length > 0)
    throw new Error(`an open page takes more than ${GOAL_PERCENT} % of a core: ${missed.join(', ')}.`)
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
    `CPU ns per decision in memory, ${whole(DECISIONS)} decisions of 1,000 addresses, medians of ${ROUNDS} rounds`,
    ['decision', 'without a dashboard', 'with one', 'difference'],
    rows,
  )
}

/** Measures processes with and without a page. Returns what an open page takes, in percent of a core. */
async function benchFleet(attacked: number): Promise<number> {
  const server = await startRedis({ own: true })
  const child = new URL('./dashboard-child.ts', import.meta.url)
  const args = [LIMITERS, attacked, DENIED_CLIENTS, server.url].map(String)
  const fleet = Array.from({ length: PROCESSES }, (_, i) => startChild(child, [String(i), ...args], HEAP_MB))
  try {
    const heaps: number[] = []
    for (const each of fleet) heaps.push(await each.ask<number>({ do: 'attack' }))
    const startMs = Date.now()
    await secondsOf(fleet, startMs, WARM_UP_SECONDS, true)
    const openMs = startMs + 1000 * WARM_UP_SECONDS
    const open = await secondsOf(fleet, openMs, SECONDS, true)
    const documents = await documentBytes(server.url)
    const closedMs = openMs + 1000 * SECONDS
    await secondsOf(fleet, closedMs, PAUSE_SECONDS, false)
    const closed = await secondsOf(fleet, closedMs + 1000 * PAUSE_SECONDS, CLOSED_SECONDS, false)
    printShares(attacked, open, closed)
    printSizes(documents, open, median(heaps))
    return sharesOf(open).together
  } finally {
    await Promise.all(fleet.map((each) => each.end()))
    await server.stop()
  }
}

/** Has all processes go through some seconds. Returns those of the first one, which has a page if `isOpen`. */
async function secondsOf(
  [first, ...others]: readonly Child[],
  startMs: number,
  seconds: number,
  isOpen: boolean,
): Promise<readonly Second[]> {
  const taken: Second[] = []
  for (let i = 0; i < seconds; i++) {
    const question = { do: 'second', nowMs: startMs + 1000 * i }
    for (const each of others) await each.ask({ ...question, hasPage: false })
    taken.push((await first?.ask<Second>({ ...question, hasPage: isOpen })) as Second)
  }
  return taken
}

/** Returns shares of a core in percent. */
function sharesOf(seconds: readonly Second[]) {
  const shareOf = (part: keyof Second) =>
    seconds.reduce((sum, each) => sum + each[part], 0) / seconds.length / 10
  const [report, read, frames] = [shareOf('reportMs'), shareOf('readMs'), shareOf('frameMs')]
  return { report, read, frames, together: report + read + frames }
}

function printShares(attacked: number, open: readonly Second[], closed: readonly Second[]): void {
  const { report, read, frames, together } = sharesOf(open)
  printTable(
    `A process of ${PROCESSES}, ${LIMITERS} limiters, ${whole(DENIED_CLIENTS)} denied clients of ${attacked} of them`,
    ['what', '% of a core', 'goal'],
    [
      ['with an open page: its reports', report.toFixed(2), ''],
      ['with an open page: reading and adding up all processes', read.toFixed(2), ''],
      ['with an open page: findings, and the frame of a page that shows a limiter', frames.toFixed(2), ''],
      ['with an open page', together.toFixed(2), GOAL_PERCENT.toFixed(2)],
      ['without a page', sharesOf(closed).together.toFixed(2), ''],
    ],
  )
}

function printSizes(documents: DocumentSizes, open: readonly Second[], heap: number): void {
  const frames = open.reduce((sum, { frameBytes }) => sum + frameBytes, 0) / open.length
  printTable(
    'Sizes',
    ['what', 'bytes'],
    [
      ['the figures that a process reports', whole(documents.figures)],
      ['the clients that a process reports', whole(documents.clients)],
      ['the frame of a second', whole(frames)],
      ['heap of the counts of a process', whole(heap)],
    ],
  )
}

async function nanosecondsEach(limiter: ReturnType<typeof limiterOf>): Promise<number> {
  const requests = Array.from({ length: 1000 }, (_, i) => requestFrom(9, i))
  const before = process.cpuUsage() // other processes cannot delay it
  for (let i = 0; i < DECISIONS; i++) await limiter.charge(requests[i % 1000] as Sent)
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1000) / DECISIONS
}

interface DocumentSizes {
  readonly figures: number
  readonly clients: number
}

async function documentBytes(url: string): Promise<DocumentSizes> {
  const client = new Redis(url)
  const [figures, clients] = await Promise.all(
    ['processes', 'clients'].map((part) => client.hget(`hg:dashboard:${part}/0`, 'text')),
  )
  client.disconnect()
  return { figures: figures?.length ?? 0, clients: clients?.length ?? 0 }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
