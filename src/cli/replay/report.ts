import type { ReasonCounts } from './left-out.js'
import type { LogPlace } from './replay.js'
import type { LimitPairs } from './suggestions.js'
import type { Understood } from './understood.js'

/** What a replay found, as `--json` prints it. Shares are of 1, times are in ISO 8601 and UTC. */
export interface Report {
  readonly lines: number
  /** Lines that could not be read, and why. */
  readonly unreadable: {
    readonly lines: number
    readonly first: LogPlace | null
    readonly reasons: ReasonCounts
  }
  /** Lines that are not requests, and those that `--only` leaves out. */
  readonly skipped: number
  readonly skippedReasons: ReasonCounts
  /** How the first line that is a request was understood. */
  readonly firstRequest: (LogPlace & Understood) | null
  /**
   * Requests that were logged after a later one, and by how much at most. They are sorted, but `late` of all
   * requests came too late for that, and are decided later than they were sent.
   */
  readonly outOfOrder: { readonly lines: number; readonly mostMs: number; readonly late: number }
  /**
   * The hours that clocks show twice, of times without a zone: the date and hour, and the requests in both. If
   * the zone does not have the hour twice, they are merged, and `requests` are those of the second one.
   */
  readonly repeatedHours: readonly {
    readonly hour: string
    readonly requests: number
    readonly isMerged: boolean
  }[]
  /** The zone in which times that name none are read; `null` if all name one. */
  readonly timeZone: string | null
  readonly requests: number
  /** Requests without an address, if the address identifies clients: they count as one. */
  readonly unknownAddresses: number
  /** Requests that count by a private address, which may be a proxy's, unless `--trust-proxy` is given. */
  readonly privateAddresses: number
  /** Requests whose client is from a forwarded list, and those whose list no trusted proxy sent. */
  readonly forwarded: { readonly requests: number; readonly ignored: number }
  readonly clients: number
  readonly key: string
  readonly from: string | null
  readonly to: string | null
  /** One for each limit that was replayed. */
  readonly limits: readonly LimitReport[]
  readonly histogram: {
    readonly widthMs: number
    /** `denied` has a count for each of `limits`, in their order. */
    readonly bars: readonly ReportBar[]
  }
  /** With `--suggest`. */
  readonly suggestions?: SuggestionReport
}

export interface SuggestionReport extends LimitPairs {
  readonly policy: 'fixed-window' | 'first-request'
  readonly windowMs: number
  /** If a few clients are far above all others. */
  readonly withoutLargest?: WithoutLargest
}

export interface WithoutLargest extends LimitPairs {
  /** How many clients are set apart. */
  readonly largestClients: number
  /** Some of them, with the requests in their busiest window. */
  readonly largest: readonly { readonly client: string; readonly most: number }[]
}

export interface ReportBar {
  readonly at: string
  readonly requests: number
  readonly denied: readonly number[]
}

export interface LimitReport {
  readonly policy: string
  readonly limit: number
  readonly windowMs: number
  readonly denied: {
    readonly requests: number
    readonly requestShare: number
    readonly clients: number
    readonly clientShare: number
    readonly firstAt: string | null
    readonly lastAt: string | null
  }
  readonly mostDenied: readonly {
    readonly client: string
    readonly requests: number
    readonly denied: number
  }[]
}
