import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { LoggedEvent } from '../figures/logged-event.js'
import type { OutageReport } from '../figures/outage.js'
import type { LimiterReport } from '../figures/report.js'
import type { OutageInterval, Series, ShownOutage } from '../figures/shown.js'
import { serverNameOf } from './server-name.js'

/** A limiter, with what all processes report of it. */
export interface Reported {
  readonly watch: LimiterWatch
  readonly report: LimiterReport
  /** The processes to which its store does not reply. */
  readonly cutOff: readonly string[]
}

/**
 * Returns the outages that last, one for each store of a group. `reportingSince` returns how many processes report since
 * an outage began, if that is known.
 */
export function shownOutages(
  group: readonly Reported[],
  reportingSince: (sinceMs: number) => number | undefined = () => undefined,
): readonly ShownOutage[] {
  const affected = group.flatMap(({ watch, report, cutOff }) => {
    const { outage, name } = report.store
    return outage === undefined ? [] : [{ watch, store: name, outage, cutOff }]
  })
  const stores = new Set(affected.map(({ store }) => store))
  return Array.from(stores, (store) => {
    const own = affected.filter((each) => each.store === store)
    const outages = own.map(({ outage }) => outage)
    const only = serverNameOf(own[0]?.watch.inspection.store ?? {})
    const servers = new Set(outages.flatMap(({ servers }) => servers))
    const sinceMs = Math.min(...outages.map(({ sinceMs }) => sinceMs))
    const reporting = reportingSince(sinceMs)
    const decisions = outages.map(({ allowed, denied, local }) => allowed + denied + local)
    const processes = Math.max(...outages.map(({ processes }) => processes))
    const [process] = own.flatMap(({ cutOff }) => cutOff)
    return {
      store,
      servers: servers.size === 0 && only !== undefined ? [only] : [...servers],
      sinceMs,
      effects: own.map(({ watch }) => ({ limiter: watch.name, text: effectOf(watch) })),
      decisions: decisions.reduce((sum, each) => sum + each, 0),
      processes,
      ...(processes === 1 && process !== undefined && { process }),
      ...lateOf(own),
      ...(reporting !== undefined && { reporting }),
    }
  })
}

/** Returns how late the replies to a store's limiters are, if they come. */
function lateOf(
  own: readonly (Pick<Reported, 'watch'> & { readonly outage: OutageReport })[],
): Pick<ShownOutage, 'late'> {
  const late = own.flatMap(({ watch, outage: { lateMs } }) =>
    lateMs === undefined ? [] : [{ afterMs: lateMs, limitMs: watch.inspection.timeoutMs }],
  )
  const [slowest] = late.sort((a, b) => b.afterMs - a.afterMs)
  return slowest === undefined ? {} : { late: slowest }
}

/** Returns what requests of a limiter get while its store is unavailable. */
function effectOf({ inspection, limiter }: LimiterWatch): string {
  const { onStoreError, fallbackShare } = inspection
  if (limiter.mode === 'report') return 'all requests are allowed, because the limiter is in report mode'
  if (onStoreError === 'allow') return 'all requests are allowed and not counted'
  if (onStoreError === 'deny') return 'all requests are denied'
  if (typeof onStoreError === 'function') return 'the function onStoreError decides each request'
  const share =
    fallbackShare === 1 ? 'each limit in full' : `${Math.round(100 * fallbackShare)}% of each limit`
  return `each process counts on its own, and allows ${share}`
}

/**
 * Returns when a store was unavailable, by the events of its circuit breakers. An outage that lasts ends now. One
 * whose end no process has logged ends with the next event, which the store has taken.
 */
export function outageIntervals(
  events: readonly LoggedEvent[],
  store: string,
  running: { readonly sinceMs: number } | undefined,
  nowMs: number,
): readonly OutageInterval[] {
  const intervals: OutageInterval[] = []
  const opened = new Map<string, number>()
  const close = (server: string, toMs: number) => {
    const fromMs = opened.get(server)
    opened.delete(server)
    if (fromMs !== undefined) intervals.push({ fromMs, toMs })
  }
  for (const { kind, atMs, details = {} } of events) {
    const server = String(details.server ?? '')
    if (kind !== 'breaker' || details.store !== store) continue
    if (details.state === 'open' && !opened.has(server)) opened.set(server, atMs)
    else if (details.state === 'closed') close(server, atMs)
  }
  for (const [server, fromMs] of [...opened]) {
    const next = events.find((event) => event.atMs > fromMs && event.kind !== 'breaker')
    close(server, running !== undefined ? nowMs : (next?.atMs ?? fromMs))
  }
  if (running !== undefined) intervals.push({ fromMs: running.sinceMs, toMs: nowMs })
  return joinIntervals(intervals)
}

/** Returns what adds the outages that are over to the series of limiters. Those of a store are read once for all. */
export function outageAdder(
  events: readonly LoggedEvent[],
  nowMs: number,
): (series: Series, store: LimiterReport['store']) => Series {
  const known = new Map<string, readonly OutageInterval[]>()
  return (series, { name, outage }) => {
    const key = `${name} ${outage?.sinceMs}`
    const all = known.get(key) ?? outageIntervals(events, name, outage, nowMs)
    known.set(key, all)
    const outages = all.filter(({ toMs }) => toMs > series.fromMs && (outage === undefined || toMs < nowMs))
    return outages.length === 0 ? series : { ...series, outages }
  }
}

function joinIntervals(intervals: readonly OutageInterval[]): readonly OutageInterval[] {
  const joined: OutageInterval[] = []
  for (const { fromMs, toMs } of [...intervals].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1)
    if (last === undefined || fromMs > last.toMs) joined.push({ fromMs, toMs })
    else joined[joined.length - 1] = { fromMs: last.fromMs, toMs: Math.max(toMs, last.toMs) }
  }
  return joined
}
