import { isoTime } from '../output.js'
import type { ReplaySettings } from './arguments.js'
import { identityName } from './identity.js'
import type { ReasonCounts } from './left-out.js'
import type { LimitReplay } from './limit-replay.js'
import type { LogPlace, Replay } from './replay.js'
import type { Suggestion } from './suggestions.js'
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
  /** Requests that were logged after a later one, and by how much at most. */
  readonly outOfOrder: { readonly lines: number; readonly mostMs: number }
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
  readonly suggestions?: {
    readonly policy: 'fixed-window' | 'first-request'
    readonly windowMs: number
    readonly requests: readonly Suggestion[]
    readonly clients: readonly Suggestion[]
  }
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
export function reportOf(replay: Replay, { suggest, keyText }: ReplaySettings): Report {
  const { histogram, limits } = replay
  const bars = histogram.bars().map(({ atMs, ...counts }) => ({ at: isoTime(atMs) ?? '', ...counts }))
  const suggestions = replay.windows?.suggest(replay.clients.size)
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
    outOfOrder: { lines: replay.outOfOrder, mostMs: replay.mostMsBack },
    requests: replay.requests,
    unknownAddresses: replay.unknownAddresses,
    privateAddresses: replay.privateAddresses,
    forwarded: { requests: replay.forwarded, ignored: replay.forwardedIgnored },
    clients: replay.clients.size,
    key: keyText,
    from: isoTime(replay.firstMs),
    to: replay.requests === 0 ? null : isoTime(replay.lastMs),
    limits: limits.map((limit) => limitReport(limit, replay)),
    histogram: { widthMs: histogram.widthMs, bars },
    ...(suggest &&
      suggestions && {
        suggestions: {
          policy: suggest.startsAt === 'clock' ? 'fixed-window' : 'first-request',
          windowMs: suggest.windowMs,
          ...suggestions,
        },
      }),
  }
}

function limitReport(limit: LimitReplay, { requests, clients }: Replay): LimitReport {
  const { policy } = limit
  const most = limit.mostDenied(clients.size, SHOWN_CLIENTS)
  const names = clients.identitiesOf(new Set(most.map(({ id }) => id)))
  return {
    policy: policy.spec.kind === 'first-request-window' ? 'first-request' : policy.spec.kind,
    limit: policy.limit,
    windowMs: policy.windowMs,
    denied: {
      requests: limit.denied,
      requestShare: shareOf(limit.denied, requests),
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
