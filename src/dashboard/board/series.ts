import type { LimiterReport, PastSlots } from '../figures/report.js'
import type { Series } from '../figures/shown.js'
import { SLOT_MS } from '../figures/traffic.js'
import { SLOTS_PER_STEP, STEP_MS, type StepCounts, stepsOf } from '../shared/steps.js'

/** A process whose report is later than this is left out of the chart, since it may hang. */
const MAX_LATE_SLOTS = 2
/** The steps of 24 hours. */
export const DAY_STEPS = 288
/** A page reads the day before every five minutes, and compares it with the minutes that follow also. */
const MORE_STEPS = 3

/** The series that were made last: while no slot ends, they stay the same. */
const latest = new WeakMap<
  PastSlots,
  {
    readonly length: number
    readonly firstKnown: number
    readonly firstSlot: number
    readonly series: Series
  }
>()

/** Returns the whole steps of the last 15 minutes, as far as all living processes have reported them. */
export function liveSeries({ traffic, sinceMs }: LimiterReport, reachedSlot: number): Series {
  const { lastSlot, past } = traffic
  const reached = Math.max(Math.min(lastSlot, reachedSlot), lastSlot - MAX_LATE_SLOTS)
  const firstSlot = lastSlot - past.allowed.length
  const length = reached - firstSlot
  const firstKnown = Math.floor(sinceMs / SLOT_MS) - firstSlot
  const before = latest.get(past)
  if (before?.length === length && before.firstKnown === firstKnown && before.firstSlot === firstSlot)
    return before.series
  const known = (counts: readonly number[]) =>
    counts.slice(0, length).map((count, i) => (i < firstKnown ? null : count))
  const fromMs = firstSlot * SLOT_MS
  const series = { stepMs: SLOT_MS, fromMs, allowed: known(past.allowed), denied: known(past.denied) }
  latest.set(past, { length, firstKnown, firstSlot, series })
  return series
}

/**
 * Returns the whole steps of a day: what the history has, and for the last steps, which some processes may not have
 * added yet, what is live. Ends `daysAgo` days ago, or 15 minutes later. `undefined` if nothing is known.
 */
export function daySeries(
  steps: readonly StepCounts[],
  live: LimiterReport,
  nowMs: number,
  daysAgo = 0,
): Series | undefined {
  const endStep = Math.floor(nowMs / STEP_MS) - daysAgo * DAY_STEPS
  const fromStep = endStep - DAY_STEPS
  const known = new Map(steps.map((each) => [each.step, each]))
  for (const each of daysAgo === 0 ? liveSteps(live) : [])
    known.set(each.step, larger(known.get(each.step), each))
  const length = DAY_STEPS + (daysAgo === 0 ? 0 : MORE_STEPS)
  const days = Array.from({ length }, (_, i) => known.get(fromStep + i))
  if (days.slice(0, DAY_STEPS).every((each) => each === undefined)) return undefined
  return {
    stepMs: STEP_MS,
    fromMs: fromStep * STEP_MS,
    allowed: days.map((each) => each?.allowed ?? null),
    denied: days.map((each) => each?.denied ?? null),
  }
}

/** Returns the steps that the last 15 minutes cover. */
function liveSteps({ traffic, sinceMs }: LimiterReport): readonly StepCounts[] {
  const endStep = Math.floor((traffic.lastSlot + 1) / SLOTS_PER_STEP)
  return stepsOf(traffic, endStep).filter(({ step }) => (step + 1) * STEP_MS > sinceMs)
}

/** Both may lack what a process has counted, so each count is at least the larger one. */
function larger(a: StepCounts | undefined, b: StepCounts): StepCounts {
  if (a === undefined) return b
  return { step: b.step, allowed: Math.max(a.allowed, b.allowed), denied: Math.max(a.denied, b.denied) }
}
