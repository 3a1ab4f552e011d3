import { inspectSettings } from '../../limiter/settings-source.js'
import { listMemo } from '../../util/memo.js'
import { clientKey } from '../figures/denied-clients.js'
import { deniedShareOf } from '../figures/denied-share.js'
import type { FindingFigures } from '../figures/finding-figures.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { LoggedEvent } from '../figures/logged-event.js'
import { longestBlockOf } from '../figures/longest-block.js'
import { mergeBriefly, mergeReports, withOutages } from '../figures/merge.js'
import type { DeniedRow, LimiterReport } from '../figures/report.js'
import type { LimiterDetail, OverviewRow, Series, ShownOutage, ShownProcess } from '../figures/shown.js'
import { findingOf } from '../findings/finding-of.js'
import type { Group } from '../shared/group.js'
import { processName } from '../shared/process-events.js'
import { thisProcess } from '../shared/this-process.js'
import { MAX_EVENTS } from '../shared/trimmed-events.js'
import { detailOf } from './detail.js'
import { findingFiguresOf } from './finding-figures-of.js'
import { latestChanges } from './latest-changes.js'
import { reportingIn, reportsByName } from './others.js'
import { outageAdder, type Reported, shownOutages } from './outages.js'
import { shownProcesses } from './processes.js'
import { liveSeries } from './series.js'

/** A limiter, with what all processes report of it. */
export interface MergedLimiter extends Reported {
  /** What this process reports of it. */
  readonly own: LimiterReport
  /** What the others report, with all the clients that they list. */
  readonly others: readonly LimiterReport[]
  readonly group: Group
  /** The slot that all living processes have reached by their own reports; `Infinity` if there are no others. */
  readonly reachedSlot: number
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

/** Adds up what the others report and what this process counted, until at most `ownAgeMs` ago. */
export function figuresOf(
  groups: readonly Group[],
  watches: readonly LimiterWatch[],
  nowMs: number,
  ownAgeMs = 0,
): Figures {
  const all = groups.flatMap((group) => mergeGroup(group, ownAgeMs))
  const merged = new Map(all.map((limiter) => [limiter.watch, limiter]))
  const limiters = watches.flatMap((watch) => merged.get(watch) ?? [])
  const outages = groups.flatMap((group) =>
    shownOutages(
      limiters.filter((limiter) => limiter.group === group),
      (sinceMs) => reportingIn(group, sinceMs),
    ),
  )
  const members = groups.flatMap((group) => group.members())
  const own = limiters.map(({ own }) => own)
  const ownGroups = groups.map(({ options }) => options.dashboard)
  const processes = shownProcesses(thisProcess(), own, members, nowMs, ownGroups)
  const events = eventsOf(groups)
  const changes = latestChanges(events, nowMs)

  function rowOf({ watch, report }: MergedLimiter): OverviewRow {
    const { name, mode, store } = report
    const figures = findingFiguresOf(report, {
      nowMs,
      outage: outages.find(({ effects }) => effects.some(({ limiter }) => limiter === name)),
      isOverloadGuard: watch.isOverloadGuard,
      labelOf: labelsOf(watch),
      ...changes.get(name),
    })
    return {
      name,
      mode,
      finding: findingOf(figures),
      ...rowRates(figures),
      store: store.name,
      storeState: store.state,
      longestBlockMs: longestBlockOf(watch.inspection.limits.values()),
      hasSettings: inspectSettings(watch.inspection.source) !== undefined,
      isOverloadGuard: watch.isOverloadGuard,
    }
  }

  const adders = new Map(groups.map((group) => [group, outageAdder(group.log.events(), nowMs)]))
  const seriesOf = ({ group, report, reachedSlot }: MergedLimiter) => {
    const series = liveSeries(report, reachedSlot)
    return [report.name, adders.get(group)?.(series, report.store) ?? series] as const
  }

  let rows: readonly OverviewRow[] | undefined
  let series: ReadonlyMap<string, Series> | undefined
  const details = new Map<string, LimiterDetail>()

  return {
    atMs: nowMs,
    limiters,
    outages,
    processes,
    events,
    rows: () => (rows ??= limiters.map(rowOf)),
    series: () => (series ??= new Map(limiters.map(seriesOf))),
    detail(name) {
      const found = limiters.find(({ report }) => report.name === name)
      if (found === undefined) return undefined
      const { watch, others } = found
      const detail = details.get(name) ?? detailOf(mergeReports([watch.report(), ...others]), labelsOf(watch))
      details.set(name, detail)
      return detail
    },
  }
}

/** While others cannot be read, what they said of outages still counts: it was true a moment ago. */
function mergeGroup(group: Group, ownAgeMs: number): readonly MergedLimiter[] {
  const isReadable = group.problem() === undefined
  const byName = reportsByName(group.lastMembers())
  const reports = group.own.latest(ownAgeMs)
  return group.options.watches.map((watch, i) => {
    const own = reports[i] as LimiterReport
    const known = byName.get(own.name) ?? []
    const living = isReadable ? known.filter(({ state }) => state === 'alive') : []
    const said = known.map(({ report }) => report)
    const others = isReadable ? said : []
    const report = mergeBriefly([own, ...others], group.own.ofFinding)
    return {
      group,
      watch,
      own,
      others,
      cutOff: [{ name: processName(thisProcess()), report: own }, ...known]
        .filter(({ report: { store } }) => store.outage !== undefined)
        .map(({ name }) => name),
      report: isReadable ? report : withOutages(report, said),
      reachedSlot: Math.min(...living.map(({ report }) => report.traffic.lastSlot)),
    }
  })
}

/** Returns the rates of a row: those of its sentence. Of blocked requests, if only those are denied. */
function rowRates({ runSinceMs, allowedPerSecond, deniedPerSecond, blockedPerSecond }: FindingFigures) {
  const [shown, besides] =
    runSinceMs === undefined ? [blockedPerSecond, 0] : [deniedPerSecond, blockedPerSecond]
  const deniedShare = deniedShareOf(allowedPerSecond, shown)
  return { allowedPerSecond, deniedPerSecond: shown, blockedPerSecond: besides, deniedShare }
}

function labelsOf(watch: LimiterWatch): (client: DeniedRow) => string | undefined {
  const labels = watch.labels()
  return ({ limitName, identity }) => labels.get(clientKey(limitName, identity))
}

const NO_EVENTS: readonly LoggedEvent[] = []

/** Returns the events of all groups: the same list as long as none has others. */
function eventsOf(groups: readonly Group[]): readonly LoggedEvent[] {
  const [first, ...others] = groups.map(({ log }) => log.events()).filter(({ length }) => length > 0)
  return first === undefined ? NO_EVENTS : joinedLogs([first, ...others])
}

/** The same event may be in several logs. A process begins, and ends, in those of all stores that it uses. */
const joinedLogs = listMemo<readonly LoggedEvent[], readonly LoggedEvent[]>((logs) => {
  if (logs.length === 1) return logs[0]
  const byId = new Map(logs.flat().map((event) => [keyOf(event), event]))
  return [...byId.values()].sort((a, b) => a.atMs - b.atMs).slice(-MAX_EVENTS)
})

function keyOf({ id, kind, details }: LoggedEvent): string {
  return kind.startsWith('process-') ? `${kind}:${details?.process}` : id
}
