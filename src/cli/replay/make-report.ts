import { isoTime } from '../output.js'
import type { ReplaySettings } from './arguments.js'
import type { ClientTable } from './client-table.js'
import { identityName } from './identity.js'
import type { LimitReplay } from './limit-replay.js'
import type { Replay } from './replay.js'
import type { LimitReport, Report, SuggestionReport, WithoutLargest } from './report.js'
import type { Suggestions } from './suggestions.js'

const SHOWN_CLIENTS = 10

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
