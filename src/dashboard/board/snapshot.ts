import type { StoreErrorChoice } from '../../limiter/options.js'
import { quantileMs } from '../figures/latency.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { DeniedRow, LimiterReport } from '../figures/report.js'
import { SLOT_MS, trafficUntil } from '../figures/traffic.js'
import type { Figures, MergedLimiter } from './figures.js'

/** A process whose report is later than this is left out of the chart, since it may hang. */
const MAX_LATE_SLOTS = 2
const MAX_CLIENTS = 20

/**
 * What the page shows of one limiter; of its traffic, the slots that all processes have reported in full.
 */
export interface ShownLimiter
  extends Omit<LimiterReport, 'store' | 'candidateClients' | 'denied' | 'denials' | 'run' | 'sinceMs'> {
  /** How many processes the figures are of; 1 if they cannot be added up. */
  readonly processes: number
  readonly denied: readonly Pick<DeniedRow, 'limitName' | 'identity' | 'denied'>[]
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

/** What the first page shows at one moment. */
export interface Snapshot {
  readonly atMs: number
  readonly slotMs: number
  readonly limiters: readonly ShownLimiter[]
}

/** Returns the figures in the form of the first page. */
export function snapshotOf({ atMs, limiters }: Figures): Snapshot {
  return { atMs, slotMs: SLOT_MS, limiters: limiters.map(shownLimiter) }
}

function shownLimiter({ watch, report, group, reachedSlot, processes }: MergedLimiter): ShownLimiter {
  const { candidateClients, denials, run, sinceMs, traffic, denied, store, ...figures } = report
  const { lastSlot } = traffic
  const reached = Math.max(Math.min(lastSlot, reachedSlot), lastSlot - MAX_LATE_SLOTS)
  return {
    ...figures,
    denied: denied.slice(0, MAX_CLIENTS).map((client) => {
      return { limitName: client.limitName, identity: client.identity, denied: client.denied }
    }),
    traffic: trafficUntil(traffic, reached - 1),
    processes,
    store: shownStore(store, watch.inspection, group.problem()),
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
