import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { exchangeOf, type ProcessExchange } from '../../stores/shared/process-exchange.js'
import { messageOf } from '../../stores/store-error.js'
import type { LimiterWatch } from './limiter-watch.js'
import type { LimiterReport } from './report.js'
import { CHART_SLOTS, SLOT_MS } from './traffic.js'

/** How long the figures of a process are kept after its last report: as long as its traffic is in the chart. */
const KEPT_MS = CHART_SLOTS * SLOT_MS
/** A process that has counted nothing reports so often, to show that it lives. */
const IDLE_REPORT_MS = 30_000
/** A process lives whose last report is not older. */
const ALIVE_MS = 2 * IDLE_REPORT_MS

/** What a process reports to the others. */
interface Note {
  readonly process: string
  readonly atMs: number
  readonly report: LimiterReport
}

/** This process, as the others see it. */
const PROCESS = `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`

/** What all processes that share a store report of one limiter. */
export interface SharedReports {
  /** Reports what this process counted, if it is new. Never rejects. */
  publish(): Promise<void>
  /** Reads what the others reported. Never rejects: `problem` says what failed. */
  refresh(): Promise<void>
  /** What the others reported at the last refresh. */
  others(): readonly LimiterReport[]
  /** How many processes live, this one included. */
  processes(): number
  /** Why the figures are those of this process alone; `undefined` where they are not. */
  problem(): string | undefined
}

/** Creates the reports of a limiter; `undefined` where its store cannot carry any. */
export function sharedReports(
  watch: LimiterWatch,
  now: () => number = Date.now,
  process = PROCESS,
): SharedReports | undefined {
  const exchange = exchangeOf(watch.inspection.store)
  if (exchange === undefined) return undefined
  const key = `${watch.inspection.keyHead}/_dashboard`
  let notes: readonly Note[] = []
  let problem: string | undefined
  let published = ''
  let publishedAtMs = Number.NEGATIVE_INFINITY

  async function attempt(call: () => Promise<void>): Promise<void> {
    try {
      await call()
      problem = undefined
    } catch (error) {
      problem = messageOf(error)
    }
  }

  async function publish(): Promise<void> {
    const report = watch.report()
    const counted = JSON.stringify([report.traffic.allowed, report.traffic.denied])
    if (counted === published && now() - publishedAtMs < IDLE_REPORT_MS) return
    const note: Note = { process, atMs: now(), report }
    await exchange?.write(key, process, JSON.stringify(note), KEPT_MS)
    published = counted
    publishedAtMs = note.atMs
  }

  async function refresh(): Promise<void> {
    const read = (await (exchange as ProcessExchange).read(key)).flatMap(parseNote)
    const isKept = ({ atMs }: Note) => now() - atMs < KEPT_MS
    notes = read.filter((note) => note.process !== process && isKept(note))
    await Promise.all(read.filter((note) => !isKept(note)).map((note) => exchange?.remove(key, note.process)))
  }

  return {
    publish: () => attempt(publish),
    refresh: () => attempt(refresh),
    others: () => notes.map(({ report }) => report),
    processes: () => 1 + notes.filter(({ atMs }) => now() - atMs < ALIVE_MS).length,
    problem: () => problem,
  }
}

/** Returns the note in a text; none where it is of another version of this package. */
function parseNote(text: string): Note[] {
  try {
    const note = JSON.parse(text) as Partial<Note>
    const isNote = typeof note.process === 'string' && typeof note.atMs === 'number'
    const { traffic, limits, near, denied, store } = note.report ?? ({} as Partial<LimiterReport>)
    const hasAll = [traffic?.allowed, traffic?.denied, limits, near, denied, store?.latency].every(
      Array.isArray,
    )
    return isNote && hasAll ? [note as Note] : []
  } catch {
    return []
  }
}
