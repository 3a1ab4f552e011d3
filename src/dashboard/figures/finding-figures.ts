import type { Mode } from '../../limiter/access-rules.js'
import type { LimitRow } from './report.js'
import type { ShownClient, ShownOutage } from './shown.js'

/** What a finding is made from: the figures of one limiter in all processes, over the last 15 minutes. */
export interface FindingFigures {
  readonly nowMs: number
  readonly name: string
  readonly mode: Mode
  /** Whether it is an overload guard, which denies what there is no place for. */
  readonly isOverloadGuard?: boolean
  /** Of the last minute. */
  readonly allowedPerSecond: number
  /** Denials by limits, and blocked requests, which are denied also. */
  readonly deniedPerSecond: number
  readonly blockedPerSecond: number
  /** Since when denials by limits are about as frequent as now; absent if there was none in the last minute. */
  readonly deniedSinceMs?: number
  /** When the first denial of those was that have not paused for a minute since; absent if `deniedSinceMs` is. */
  readonly runSinceMs?: number
  /** Whether it is not known who most of the denied clients are. They have no figures below then. */
  readonly areClientsUnknown?: true
  /** How many clients were denied in the last 15 minutes of the run, and how often all of them together. */
  readonly deniedClients: number
  readonly denied: number
  /** How many IP addresses, and networks of them, stand behind these clients. 0 if they are not known. */
  readonly addresses: number
  readonly networkCount: number
  /** The clients that were denied most, the first one most. */
  readonly clients: readonly ShownClient[]
  /** Where denials came from, most first: /24 networks of IPv4, /48 of IPv6. */
  readonly networks: readonly {
    readonly network: string
    readonly denied: number
    readonly addresses: number
  }[]
  readonly routes: readonly { readonly route: string; readonly denied: number }[]
  readonly limits: readonly LimitRow[]
  readonly outage?: ShownOutage
  /** The last change of its limits or mode by an operator, if that may be why clients are denied. */
  readonly change?: LimitsChange
  /** The change that allows more, by an operator, since which no client has been denied. */
  readonly remedy?: LimitsChange
}

/** A change of limits, in words: `set api to 60 per 1m`. */
export interface LimitsChange {
  readonly atMs: number
  readonly text: string
  readonly by?: string
  /** When a later change allowed more to all clients. */
  readonly undoneMs?: number
}
