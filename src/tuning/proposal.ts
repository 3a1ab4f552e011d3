import type { ClientDemand } from './client-demand.js'
import type { ApartBecause } from './crowd.js'
import { clientsIn, type Quantile } from './peaks.js'

/** With fewer clients, or in a shorter time, the largest peak may be yet to come. */
export const FEW_CLIENTS = 100
/** A log of a day may begin and end with quiet hours. */
export const SHORT_MS = 20 * 3_600_000
/** The most clients that a group names. */
const MAX_NAMED = 50

/** Some clients: the largest by name, and how many there are. */
export interface ClientGroup {
  readonly clients: number
  /** How many of them the limit in force denied. */
  readonly denied: number
  readonly smallestPeak: number
  readonly largestPeak: number
  /** Those with the largest peaks, at most 50, the largest first. */
  readonly largest: readonly ClientDemand[]
}

/** What becomes of the limit in force; `'set'` if there is none, and `'unknown'` if there was no demand. */
export type Verdict = 'set' | 'raise' | 'lower' | 'keep' | 'unknown'

/** A limit that suits what clients demanded, and what it would change. */
export interface Proposal {
  readonly limitName: string
  readonly windowMs: number
  readonly fromMs: number
  readonly toMs: number
  readonly inForce?: number
  readonly clients: number
  readonly quantiles: readonly Quantile[]
  readonly verdict: Verdict
  /** The proposed limit; absent if there was no demand. */
  readonly limit?: number
  /** Why, in one sentence. */
  readonly reason: string
  /** What to look at before the proposal is believed. */
  readonly cautions: readonly string[]
  /** The clients of the crowd, which the limit lets pass. */
  readonly crowd?: ClientGroup
  /** The clients set apart from the crowd. The limit need not let them pass. */
  readonly apart?: ClientGroup & { readonly because: ApartBecause }
  /** The upper of two groups in the crowd, and the limit that the lower one alone would get. */
  readonly upper?: ClientGroup & { readonly lowerLimit: number }
  /** The clients that it would deny, and the limit in force did not. */
  readonly newlyDenied?: ClientGroup
}

/** Returns a group of sorted demands, or `undefined` if there are none. */
export function groupOf(sorted: readonly ClientDemand[]): ClientGroup | undefined {
  const [smallest, largest] = [sorted[0], sorted.at(-1)]
  if (smallest === undefined || largest === undefined) return undefined
  return {
    clients: Math.round(clientsIn(sorted)),
    denied: Math.round(clientsIn(sorted.filter(({ wasDenied }) => wasDenied))),
    smallestPeak: smallest.peak,
    largestPeak: largest.peak,
    largest: sorted.slice(-MAX_NAMED).reverse(),
  }
}
