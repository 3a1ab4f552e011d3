import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { localStatesOf } from '../../stores/shared/local-states.js'
import { asStoreError } from '../../stores/store-error.js'
import { timeout } from '../../util/timeout.js'
import type { LimiterWatch } from './limiter-watch.js'
import type { Note } from './note.js'
import { noteSlots } from './note-slots.js'
import type { LimiterReport, TrafficReport } from './report.js'
import { CHART_SLOTS, SLOT_MS } from './traffic.js'

/**
 * How long the figures of a process are kept after its last report: as long as its traffic is in the chart.
 */
const KEPT_MS = CHART_SLOTS * SLOT_MS
/**
 * A process that has counted nothing still reports once a slot: others know then that it counted nothing.
 */
const IDLE_REPORT_MS = SLOT_MS
/** A process lives whose last report is not older. */
const ALIVE_MS = 60_000

/** Less than the time between two snapshots, so that pages go on: with what this process counted. */
const TIMEOUT_MS = 800

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
  /**
   * The slot that all living processes have reached by their own reports; `Infinity` if there are no others.
   */
  reachedSlot(): number
  /** How many processes live, this one included. */
  processes(): number
  /** Why the figures are those of this process alone; `undefined` if they are not. */
  problem(): string | undefined
}

/** Creates the reports of a limiter; `undefined` if its store is not shared, or has no documents. */
export function sharedReports(
  watch: Pick<LimiterWatch, 'inspection' | 'report'>,
  now: () => number = Date.now,
  process = PROCESS,
): SharedReports | undefined {
  const { store, limiterScope } = watch.inspection
  const { documents } = store
  if (documents === undefined || localStatesOf(store) !== undefined) return undefined
  const isKept = ({ atMs }: Note) => Math.abs(now() - atMs) < KEPT_MS // a clock may have been far ahead
  const slots = noteSlots(documents, `${limiterScope}/_dashboard`, isKept)
  const writes = callsOf(store.name)
  const reads = callsOf(store.name)
  let notes: readonly ReadableNote[] = []
  let published = ''
  let publishedAtMs = Number.NEGATIVE_INFINITY

  async function publish(): Promise<void> {
    const report = watch.report()
    const counted = JSON.stringify({ ...report, traffic: newestSlot(report.traffic) })
    const atMs = now()
    if (counted === published && atMs - publishedAtMs < IDLE_REPORT_MS) return
    await slots.write(process, JSON.stringify({ process, atMs, report } satisfies Note))
    published = counted
    publishedAtMs = atMs
  }

  async function refresh(): Promise<void> {
    notes = (await slots.read()).filter(isReadable).filter((note) => note.process !== process)
  }

  const isAlive = ({ atMs }: Note) => now() - atMs < ALIVE_MS
  const problem = () => reads.problem() ?? writes.problem()
  const shown = () => (problem() === undefined ? notes : [])
  return {
    publish: () => writes.attempt(publish),
    refresh: () => reads.attempt(refresh),
    others: () => shown().map((note) => (isAlive(note) ? note.report : pastOf(note.report))),
    reachedSlot: () =>
      Math.min(
        ...shown()
          .filter(isAlive)
          .map(({ report }) => report.traffic.lastSlot),
      ),
    processes: () => 1 + shown().filter(isAlive).length,
    problem,
  }
}

/** A note of this version of the package. */
interface ReadableNote extends Note {
  readonly report: LimiterReport
}

function isReadable(note: Note): note is ReadableNote {
  return note.report !== undefined
}

/** Calls of one kind, of which one is pending at a time: a store that hangs would collect them. */
function callsOf(store: string) {
  const within = timeout(TIMEOUT_MS)
  let pending: Promise<void> | undefined
  let problem: string | undefined

  async function attempt(call: () => Promise<void>): Promise<void> {
    pending ??= call().finally(() => {
      pending = undefined
    })
    try {
      await within(pending)
      problem = undefined
    } catch (error) {
      problem = asStoreError(store, error).message
    }
  }

  return { attempt, problem: () => problem }
}

/** Returns the last slot in which something was counted, by a number that stays the same as time passes. */
function newestSlot({ lastSlot, allowed, denied }: TrafficReport): readonly number[] {
  const at = allowed.findLastIndex((count, i) => count + (denied[i] ?? 0) > 0)
  return at < 0 ? [] : [lastSlot - allowed.length + at, allowed[at] ?? 0, denied[at] ?? 0]
}

/**
 * Returns what still counts of a process that has ended: its requests, and not how limits and the store are.
 */
function pastOf(report: LimiterReport): LimiterReport {
  const { name } = report.store
  const traffic = { ...report.traffic, perSecond: { allowed: 0, denied: 0 } }
  return {
    ...report,
    traffic,
    limits: [],
    near: [],
    store: { name, state: 'closed', calls: 0, failures: 0, latency: [] },
  }
}
