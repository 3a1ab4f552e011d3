import type { Mode } from '../../limiter/access-rules.js'
import type { CandidateReport } from '../../limiter/candidate/candidate-report.js'
import type { BreakerState } from '../../pipe/breaker-state.js'
import type { LoggedEvent, RecordedEvent } from './logged-event.js'
import type { LimitRow } from './report.js'

/** How urgent a limiter is: something fails or is attacked, clients are denied, or nothing is wrong. */
export type Level = 'critical' | 'warning' | 'calm'

/** What a finding is about. The page offers other actions for each kind. */
export type FindingKind =
  /** The store does not decide. */
  | 'store-outage'
  /** A process has stopped reporting without having been closed. */
  | 'process-gone'
  /** One identity is denied, and many addresses stand behind it. */
  | 'account-attacked'
  /** Most denials come from one network, or a few. */
  | 'network-denied'
  /** A few clients are at their limit: a plan that is too small, or a client in a loop. */
  | 'few-denied'
  /** Many clients are denied, and have nothing in common but perhaps their routes. */
  | 'many-denied'
  /** There is no place for all requests: the server, or what calls depend on, is full. */
  | 'overload'
  | 'calm'

/** What is wrong with a limiter. */
export interface Finding {
  readonly kind: FindingKind
  readonly level: Level
  /** One sentence: what, whom, since when and why. Times of day are written as `{1764412740000}`. */
  readonly sentence: string
  /** The sentence without labels, which must not leave this process, for the reason of a change; absent if it is the same. */
  readonly reason?: string
  /** When it began, in ms since the Unix epoch; absent for `'calm'`. */
  readonly sinceMs?: number
  /** The identities and networks that the page can act on, the worst first, at most 50 each. */
  readonly identities: readonly string[]
  readonly networks: readonly string[]
  readonly routes: readonly string[]
}

/** A row of the overview. Rates are of the last minute, and shares are from 0 to 1. */
export interface OverviewRow {
  readonly name: string
  readonly mode: Mode
  readonly finding: Finding
  readonly allowedPerSecond: number
  /** By limits; of blocked clients, while only those are denied. */
  readonly deniedPerSecond: number
  /** Requests of blocked clients besides, which are denied without asking a limit, and not in the share. */
  readonly blockedPerSecond: number
  readonly deniedShare: number
  readonly store: string
  readonly storeState: BreakerState
  /** The longest block that its bans can keep; 0 if no limit of it is a ban. */
  readonly longestBlockMs: number
  /** Whether the page can change its limits. */
  readonly hasSettings: boolean
  /** Whether it is an overload guard, which keeps no account of its clients. */
  readonly isOverloadGuard: boolean
}

/** Counts over time, in steps of equal length, the oldest first; `null` where nothing is known. */
export interface Series {
  readonly stepMs: number
  /** When the first step began, in ms since the Unix epoch. */
  readonly fromMs: number
  readonly allowed: readonly (number | null)[]
  readonly denied: readonly (number | null)[]
  /** When the store was unavailable, without an outage that lasts; absent if it never was. */
  readonly outages?: readonly OutageInterval[]
}

/** A time when a store was unavailable. */
export interface OutageInterval {
  readonly fromMs: number
  readonly toMs: number
}

/** A store that is unavailable, or some of whose servers are. */
export interface ShownOutage {
  readonly store: string
  /** The servers that are unavailable; the only one of a store, if its client tells it. */
  readonly servers: readonly string[]
  readonly sinceMs: number
  /** What requests get now, in words, by limiter. */
  readonly effects: readonly { readonly limiter: string; readonly text: string }[]
  /** How many decisions were made without the store, by all processes that say so. */
  readonly decisions: number
  /** How many processes say so, and which, if it is one. */
  readonly processes: number
  readonly process?: string
  /** Set if replies come, but too late: how long the last one took, and how long limiters wait, in ms. */
  readonly late?: { readonly afterMs: number; readonly limitMs: number }
  /** How many processes have reported since it began; absent as long as not all have, or cannot be read. */
  readonly reporting?: number
}

/** A process that reports, has been closed, or has vanished within the last hour. */
export interface ShownProcess {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly startedAtMs: number
  readonly lastSeenMs: number
  /** `'replaced'`: gone, but another process has taken its place, as after a deploy. */
  readonly state: 'alive' | 'closed' | 'gone' | 'replaced'
  /** Its share of all decisions in the last minute; before it ended, for one that is gone. */
  readonly share: number
  readonly isThis: boolean
}

/** A client that was denied in the last 15 minutes. */
export interface ShownClient {
  readonly limitName: string
  /** The identity as logs show it. */
  readonly identity: string
  /** What the application calls the client, if this process has seen it. */
  readonly label?: string
  readonly denied: number
  readonly deniedPerSecond: number
  readonly firstDeniedMs: number
  readonly lastDeniedMs: number
  /** The routes that it was denied on most, at most 5. */
  readonly routes: readonly { readonly route: string; readonly denied: number }[]
  /** How many IP addresses stand behind it. */
  readonly addresses: number
  /** The networks that most of its denials came from, at most 11. */
  readonly networks: readonly { readonly network: string; readonly denied: number }[]
}

/** The calls of a limiter to its store in the last 30 to 60 seconds. */
export interface ShownCalls {
  readonly calls: number
  readonly failures: number
  /** How long half of them took at most, and 99 of 100; absent if there were none. */
  readonly medianMs?: number
  readonly p99Ms?: number
  /** How many keys a memory store has. */
  readonly keys?: number
}

/** The details of one limiter, besides its row. */
export interface LimiterDetail {
  readonly name: string
  readonly limits: readonly LimitRow[]
  readonly denied: readonly ShownClient[]
  /** How many clients were denied in the last 15 minutes, listed or not. */
  readonly deniedClients: number
  /** Clients that have used 80% of a limit. */
  readonly near: readonly {
    limitName: string
    identity: string
    limit: number
    remaining: number
    isLocal: boolean
  }[]
  readonly store: ShownCalls
  /** What the candidate would have done in all processes; absent if there is none. */
  readonly candidate?: CandidateReport
}

/** A message of the stream. The first one has all that the view needs; later ones what has changed. */
export interface Frame {
  readonly atMs: number
  readonly rows?: readonly OverviewRow[]
  /** The newest whole step of the traffic of limiters whose 15 minutes have grown; all 15 minutes at first. */
  readonly series?: Readonly<Record<string, Series>>
  readonly outages?: readonly ShownOutage[]
  readonly processes?: readonly ShownProcess[]
  /** What is wrong that is about no limiter: stores that do not decide, and processes that are gone. */
  readonly headlines?: readonly { readonly finding: Finding }[]
  readonly detail?: LimiterDetail
  /** New events, oldest first; at first the last 50. */
  readonly events?: readonly LoggedEvent[]
  /** Why figures are incomplete, each in a sentence. */
  readonly problems?: readonly string[]
}

/** The last 24 hours of a limiter, in steps of 5 minutes. */
export interface LimiterHistory {
  readonly series: Series
  /** The 24 hours before; absent if nothing is known of them. */
  readonly yesterday?: Series
  /** When its store was unavailable; an outage that lasts ends now. */
  readonly outages: readonly OutageInterval[]
  readonly marks: readonly LoggedEvent[]
}

/** Who reads figures: an open page, once a second, or a single request. */
export type FigureReader = 'page' | 'request'

/** What the pages of a dashboard show, as of the last refresh. */
export interface PageFigures {
  /**
   * Reads what other processes reported, and probes the stores that are unavailable. Those who ask at the same time
   * share it. Takes about a second at most, even if a store hangs. Never rejects.
   */
  refresh(reader?: FigureReader): Promise<void>
  /** Refreshes figures for a request, and resolves with them: without an open page, nothing else does. */
  asOfNow(): Promise<PageFigures>
  rows(): readonly OverviewRow[]
  /** The whole steps of the last 15 minutes, by limiter. */
  series(): ReadonlyMap<string, Series>
  outages(): readonly ShownOutage[]
  processes(): readonly ShownProcess[]
  /** The last events, oldest first, at most 1,000. */
  events(): readonly LoggedEvent[]
  /** Returns the details of a limiter, with all clients that are kept, those denied most first. */
  detail(limiter: string): LimiterDetail | undefined
  history(limiter: string): Promise<LimiterHistory | undefined>
  /** The last 24 hours of all limiters. */
  histories(): Promise<ReadonlyMap<string, Series>>
  /** Why figures are incomplete, each in a sentence. */
  problems(): readonly string[]
  /** Logs what an operator has done. An event with an `id` is logged once. */
  record(event: RecordedEvent): void
}
