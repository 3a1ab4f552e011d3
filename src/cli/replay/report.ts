import { isoTime } from '../output.js'
import type { ReplaySettings } from './arguments.js'
import type { ClientTable } from './client-table.js'
import { identityName } from './identity.js'
import type { ReasonCounts } from './left-out.js'
import type { LimitReplay } from './limit-replay.js'
import type { LogPlace, Replay } from './replay.js'
import type { LimitPairs, Suggestions } from './suggestions.js'
import type { Understood } from './understood.js'

const SHOWN_CLIENTS = 10

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

/** Returns what a replay found. Ends its counts. */
export function reportOf(replay: Replay, settings: ReplaySettings): Report {
  const { decisions, clients } = replay
  const { histogram, limits, requests } = decisions
  const bars = histogram.bars().map(({ atMs, ...counts }) => ({ at: isoTime(atMs) ?? '', ...counts }))
  const suggestions = suggestionReport(replay, settings)
  return {
    lines: replay.lines,
    unreadable: {
      lines: replay.unreadable,
      first: replay.firstUnreadable ?? null,
      reasons: replay.leftOut.unreadable,
    },
    skipped: replay.skipped,
    skippedReasons: replay.leftOut.skipped,
    firstRequest: replay.firstRequest ?? null,
    outOfOrder: { lines: replay.outOfOrder, mostMs: replay.mostMsBack, late: decisions.late },
    repeatedHours: replay.localTimes.repeatedHours().map(({ startsAtMs, ...hour }) => ({
      hour: new Date(startsAtMs).toISOString().slice(0, 16),
      ...hour,
    })),
    timeZone: replay.localTimes.isAny ? settings.timeZone.name : null,
    requests,
    unknownAddresses: replay.unknownAddresses,
    privateAddresses: replay.privateAddresses,
    forwarded: { requests: replay.forwarded, ignored: replay.forwardedIgnored },
    clients: clients.size,
    key: settings.keyText,
    from: isoTime(decisions.firstMs),
    to: isoTime(decisions.lastMs),
    limits: limits.map((limit) => limitReport(limit, replay)),
    histogram: { widthMs: histogram.widthMs, bars },
    ...(suggestions && { suggestions }),
  }
}

function suggestionReport(
  { decisions, clients }: Replay,
  { suggest }: ReplaySettings,
): SuggestionReport | undefined {
  const found: Suggestions | undefined = decisions.windows?.suggest(clients.size)
  if (suggest === undefined || found === undefined) return undefined
  const { requests, clients: ofClients, apart } = found
  return {
    policy: suggest.startsAt === 'clock' ? 'fixed-window' : 'first-request',
    windowMs: suggest.windowMs,
    requests,
    clients: ofClients,
    ...(apart && { withoutLargest: withoutLargest(apart, clients) }),
  }
}

function withoutLargest(
  { largest, requests, clients }: NonNullable<Suggestions['apart']>,
  table: ClientTable,
): WithoutLargest {
  const shown = largest.slice(0, SHOWN_CLIENTS)
  const names = table.identitiesOf(new Set(shown.map(({ id }) => id)))
  return {
    largestClients: largest.length,
    largest: shown.map(({ id, most }) => ({ client: identityName(names.get(id) ?? ''), most })),
    requests,
    clients,
  }
}

function limitReport(limit: LimitReplay, { decisions, clients }: Replay): LimitReport {
  const { policy } = limit
  const most = limit.mostDenied(clients.size, SHOWN_CLIENTS)
  const names = clients.identitiesOf(new Set(most.map(({ id }) => id)))
  return {
    policy: policy.spec.kind === 'first-request-window' ? 'first-request' : policy.spec.kind,
    limit: policy.limit,
    windowMs: policy.windowMs,
    denied: {
      requests: limit.denied,
      requestShare: shareOf(limit.denied, decisions.requests),
      clients: limit.deniedClients,
      clientShare: shareOf(limit.deniedClients, clients.size),
      firstAt: isoTime(limit.firstDeniedMs),
      lastAt: isoTime(limit.lastDeniedMs),
    },
    mostDenied: most.map(({ id, requests, denied }) => {
      return { client: identityName(names.get(id) ?? ''), requests, denied }
    }),
  }
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
