import type { StoreErrorChoice } from '../../limiter/options.js'
import { inBackground } from '../../util/background-timer.js'
import { quantileMs } from './latency.js'
import type { LimiterWatch } from './limiter-watch.js'
import { mergeReports } from './merge.js'
import type { LimiterReport } from './report.js'
import { type SharedReports, sharedReports } from './shared-reports.js'
import { SLOT_MS, trafficUntil } from './traffic.js'

/** How often a process reports to the others. */
const PUBLISH_MS = 2000
/** A process whose report is later than this is left out of the chart, since it may hang. */
const MAX_LATE_SLOTS = 2

/**
 * What the page shows of one limiter; of its traffic, the slots that all processes have reported in full.
 */
export interface ShownLimiter extends Omit<LimiterReport, 'store' | 'candidateClients'> {
  /** How many processes the figures are of; 1 if they cannot be added up. */
  readonly processes: number
  readonly store: ShownStore
}

/** The store of a limiter. */
export interface ShownStore extends Omit<LimiterReport['store'], 'latency'> {
  /** What decides requests while the store is unavailable: the option, or `'function'`. */
  readonly onStoreError: StoreErrorChoice | 'function'
  /** The share of each limit that the fallback store grants. */
  readonly fallbackShare: number
  /**
   * How long half of the calls took at most, and 99 of 100; absent if there were none in the last minute.
   */
  readonly medianMs?: number
  readonly p99Ms?: number
  /** Why the figures are those of this process alone. */
  readonly problem?: string
}

/** What the page shows at one moment. */
export interface Snapshot {
  readonly atMs: number
  readonly slotMs: number
  readonly limiters: readonly ShownLimiter[]
}

/** The figures of all limiters of a dashboard. */
export interface Board {
  /** Reads what other processes reported, and probes the stores that are unavailable. */
  refresh(): Promise<void>
  snapshot(): Snapshot
  /** Ends the reports to other processes. */
  stop(): void
}

/** Creates the board of some limiters, and begins to report to other processes. */
export function boardOf(watches: readonly LimiterWatch[]): Board {
  const shared = watches.map((watch) => sharedReports(watch))
  const publishAll = () => Promise.all(shared.map((reports) => reports?.publish()))
  const timer = shared.some((reports) => reports !== undefined)
    ? inBackground(setInterval(publishAll, PUBLISH_MS))
    : undefined
  return {
    async refresh() {
      for (const watch of watches) watch.probe()
      await Promise.all(shared.map((reports) => reports?.refresh()))
    },
    snapshot() {
      const limiters = watches.map((watch, i) => shownLimiter(watch, shared[i]))
      return { atMs: Date.now(), slotMs: SLOT_MS, limiters }
    },
    stop() {
      clearInterval(timer)
      for (const watch of watches) watch.stop()
    },
  }
}

function shownLimiter(watch: LimiterWatch, shared: SharedReports | undefined): ShownLimiter {
  const own = watch.report()
  const { candidateClients, traffic, store, ...report } = mergeReports([own, ...(shared?.others() ?? [])])
  const { lastSlot } = own.traffic
  const reached = Math.max(Math.min(lastSlot, shared?.reachedSlot() ?? lastSlot), lastSlot - MAX_LATE_SLOTS)
  return {
    ...report,
    traffic: trafficUntil(traffic, reached - 1),
    processes: shared?.processes() ?? 1,
    store: shownStore(store, watch.inspection, shared?.problem()),
  }
}

function shownStore(
  { latency, ...store }: LimiterReport['store'],
  { onStoreError, fallbackShare }: LimiterWatch['inspection'],
  problem: string | undefined,
): ShownStore {
  const medianMs = quantileMs(latency, 0.5)
  const p99Ms = quantileMs(latency, 0.99)
  return {
    ...store,
    onStoreError: typeof onStoreError === 'function' ? 'function' : onStoreError,
    fallbackShare,
    ...(medianMs !== undefined && { medianMs }),
    ...(p99Ms !== undefined && { p99Ms }),
    ...(problem !== undefined && { problem }),
  }
}
