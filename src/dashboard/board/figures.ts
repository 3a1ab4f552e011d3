import { inspectSettings } from '../../limiter/settings-source.js'
import { clientKey } from '../figures/denied-clients.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { LoggedEvent } from '../figures/logged-event.js'
import { mergeReports } from '../figures/merge.js'
import type { DeniedRow, LimiterReport } from '../figures/report.js'
import type { LimiterDetail, OverviewRow, Series, ShownOutage, ShownProcess } from '../figures/shown.js'
import { findingOf } from '../findings/finding-of.js'
import { MAX_EVENTS } from '../shared/event-log.js'
import type { Member } from '../shared/fleet.js'
import type { Group } from '../shared/group.js'
import { thisProcess } from '../shared/this-process.js'
import { detailOf } from './detail.js'
import { findingFiguresOf } from './finding-figures-of.js'
import { type Reported, shownOutages } from './outages.js'
import { shownProcesses } from './processes.js'
import { liveSeries } from './series.js'

/** For how long a process that has vanished is part of the findings of its limiters. */
const GONE_MS = 900_000

/** A limiter, with what all processes report of it. */
export interface MergedLimiter extends Reported {
  /** What this process reports of it. */
  readonly own: LimiterReport
  readonly group: Group
  /** The slot that all living processes have reached by their own reports; `Infinity` if there are no others. */
  readonly reachedSlot: number
  /** How many processes live, this one included. */
  readonly processes: number
  /** The ids of other processes that have it. */
  readonly processIds: ReadonlySet<string>
}

/** The figures of all limiters at one moment. */
export interface Figures {
  readonly atMs: number
  readonly limiters: readonly MergedLimiter[]
  readonly outages: readonly ShownOutage[]
  readonly processes: readonly ShownProcess[]
  readonly events: readonly LoggedEvent[]
  rows(): readonly OverviewRow[]
  series(): ReadonlyMap<string, Series>
  detail(limiter: string): LimiterDetail | undefined
}

/** Adds up what this process and the others report. */
export function figuresOf(
  groups: readonly Group[],
  watches: readonly LimiterWatch[],
  nowMs: number,
): Figures {
  const merged = new Map(groups.flatMap(mergeGroup).map((limiter) => [limiter.watch, limiter]))
  const limiters = watches.flatMap((watch) => merged.get(watch) ?? [])
  const outages = groups.flatMap((group) =>
    shownOutages(limiters.filter((limiter) => limiter.group === group)),
  )
  const members = groups.flatMap((group) => group.members())
  const own = limiters.map(({ own }) => own)
  const processes = shownProcesses(thisProcess(), own, members, nowMs)
  const gone = processes.filter(({ state, lastSeenMs }) => state === 'gone' && nowMs - lastSeenMs < GONE_MS)

  function rowOf({ watch, report, processIds }: MergedLimiter): OverviewRow {
    const { name, mode, traffic, store } = report
    const { allowed, denied } = traffic.perSecond
    const figures = findingFiguresOf(report, {
      nowMs,
      outage: outages.find(({ effects }) => effects.some(({ limiter }) => limiter === name)),
      gone: gone.filter(({ id }) => processIds.has(id)),
      labelOf: labelsOf(watch),
    })
    return {
      name,
      mode,
      finding: findingOf(figures),
      allowedPerSecond: allowed,
      deniedPerSecond: denied,
      deniedShare: denied === 0 ? 0 : denied / (allowed + denied),
      store: store.name,
      storeState: store.state,
      hasSettings: inspectSettings(watch.inspection.source) !== undefined,
    }
  }

  return {
    atMs: nowMs,
    limiters,
    outages,
    processes,
    events: eventsOf(groups),
    rows: () => limiters.map(rowOf),
    series: () =>
      new Map(
        limiters.map(({ report, reachedSlot }) => [report.name, liveSeries(report, reachedSlot)] as const),
      ),
    detail(name) {
      const found = limiters.find(({ report }) => report.name === name)
      return found && detailOf(found.report, labelsOf(found.watch))
    },
  }
}

function mergeGroup(group: Group): readonly MergedLimiter[] {
  const members = group.members()
  return group.options.watches.map((watch) => {
    const own = watch.report()
    const others = reportsOf(members, own.name)
    const living = others.filter(({ member }) => member.state === 'alive')
    return {
      group,
      watch,
      own,
      report: mergeReports([own, ...others.map(({ report }) => report)]),
      reachedSlot: Math.min(...living.map(({ report }) => report.traffic.lastSlot)),
      processes: 1 + living.length,
      processIds: new Set(others.map(({ member }) => member.header.id)),
    }
  })
}

interface OtherReport {
  readonly member: Member
  readonly report: LimiterReport
}

/**
 * Returns what other processes report of a limiter. Two dashboards of one process count the same, so one of them
 * counts.
 */
function reportsOf(members: readonly Member[], name: string): readonly OtherReport[] {
  const byProcess = new Map<string, OtherReport>()
  for (const member of members) {
    const { id } = member.header
    const report = member.reports?.find((each) => each.name === name)
    if (report !== undefined && id !== thisProcess().id && !byProcess.has(id))
      byProcess.set(id, { member, report })
  }
  return [...byProcess.values()]
}

function labelsOf(watch: LimiterWatch): (client: DeniedRow) => string | undefined {
  const labels = watch.labels()
  return ({ limitName, identity }) => labels.get(clientKey(limitName, identity))
}

/** Returns the events of all groups. The same one may be in several. */
function eventsOf(groups: readonly Group[]): readonly LoggedEvent[] {
  const [first, ...others] = groups.map(({ log }) => log.events())
  if (first === undefined || others.length === 0) return first ?? []
  const byId = new Map([first, ...others].flat().map((event) => [event.id, event]))
  return [...byId.values()].sort((a, b) => a.atMs - b.atMs).slice(-MAX_EVENTS)
}
