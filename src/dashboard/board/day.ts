import type { LimitDemand } from '../../tuning/client-demand.js'
import { withoutCandidates } from '../../tuning/demand-in-force.js'
import type { LimiterHistory, Series } from '../figures/shown.js'
import type { Group } from '../shared/group.js'
import { STEP_MS } from '../shared/steps.js'
import type { Figures, MergedLimiter } from './figures.js'
import { outageAdder, outageIntervals } from './outages.js'
import { DAY_STEPS, daySeries } from './series.js'

const DAY_MS = DAY_STEPS * STEP_MS

/** Reads the last 24 hours of a limiter; `undefined` if there is no such limiter. */
export async function readHistory(
  groups: readonly Group[],
  figures: Figures,
  name: string,
  nowMs: number,
): Promise<LimiterHistory | undefined> {
  const limiter = figures.limiters.find(({ report }) => report.name === name)
  if (limiter === undefined) return undefined
  const steps = (await historyOf(groups, name)?.steps()) ?? []
  const yesterday = daySeries(steps, limiter.report, nowMs, 1)
  const events = limiter.group.log.events()
  const { name: store, outage } = limiter.report.store
  const intervals = outageIntervals(events, store, outage, nowMs)
  return {
    series: daySeries(steps, limiter.report, nowMs) ?? emptyDay(nowMs),
    ...(yesterday && { yesterday }),
    outages: intervals.filter(({ toMs }) => nowMs - toMs < DAY_MS),
    marks: events.filter(({ atMs, limiter: about }) => nowMs - atMs < DAY_MS && (about ?? name) === name),
  }
}

/** Reads the last 24 hours of all limiters. */
export async function readHistories(
  groups: readonly Group[],
  { limiters, events }: Figures,
  nowMs: number,
): Promise<ReadonlyMap<string, Series>> {
  const withOutages = outageAdder(events, nowMs)
  const read = async ({ report }: MergedLimiter) => {
    const steps = (await historyOf(groups, report.name)?.steps()) ?? []
    const series = daySeries(steps, report, nowMs) ?? emptyDay(nowMs)
    return [report.name, withOutages(series, report.store)] as const
  }
  return new Map(await Promise.all(limiters.map(read)))
}

/** Reads what the clients of a limiter asked for. */
export async function readDemands(groups: readonly Group[], name: string): Promise<readonly LimitDemand[]> {
  return withoutCandidates((await historyOf(groups, name)?.demands()) ?? [])
}

function historyOf(groups: readonly Group[], name: string) {
  return groups.find(({ histories }) => histories.has(name))?.histories.get(name)
}

function emptyDay(nowMs: number): Series {
  const unknown = Array<null>(DAY_STEPS).fill(null)
  const fromMs = (Math.floor(nowMs / STEP_MS) - DAY_STEPS) * STEP_MS
  return { stepMs: STEP_MS, fromMs, allowed: unknown, denied: unknown }
}
