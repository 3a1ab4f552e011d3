import { median } from '../../bench/harness/rounds.js'
import type { LiveRun } from './run.js'
import { type LiveScenario, REFERENCE } from './scenario.js'

/** The rounds of each guard in a scenario. A guard may have played fewer of them than the reference. */
export type Runs = ReadonlyMap<string, readonly LiveRun[]>

const MIN_RATIO = 0.9
const MAX_TIMES_IDLE = 2
const MAX_TENANT_LOSS = 0.01
const MAX_RECOVERY_SECONDS = 3
/** Below it, nothing may be denied. */
const CALM_TIMES = 0.7

/** What a guard has to reach in a scenario, and what it reached in its worst round. */
export interface Goal {
  readonly title: string
  readonly reached: string
  readonly isMet: boolean
}

/** Returns what was answered in time, as a ratio to the reference in the same round. */
export function ratiosOf(runs: Runs, guard: string): number[] {
  const reference = runs.get(REFERENCE) ?? []
  return (runs.get(guard) ?? []).map(({ good }, round) => good / (reference[round]?.good ?? Number.NaN))
}

/** Returns what critical requests take when the server is idle. All guards let them pass alike. */
export function idleP99Of(runs: Runs): number {
  const all = Array.from(runs.values()).flat()
  return median(all.map(({ idleP99Ms = Number.POSITIVE_INFINITY }) => idleP99Ms))
}

/** Returns the goals that apply to a scenario, as a guard reached them. */
export function goalsOf(scenario: LiveScenario, runs: Runs, guard: string): Goal[] {
  const { maxTimes, stopMs, hasCritical, calmFrom } = scenario
  const own = runs.get(guard) ?? []
  const worst = (figure: (run: LiveRun) => number) => Math.max(...own.map(figure))
  const goals: Goal[] = []
  if (runs.has(REFERENCE)) {
    const least = Math.min(...ratiosOf(runs, guard))
    goals.push(goal(`goodput at least ${MIN_RATIO} of fixed`, least.toFixed(2), least >= MIN_RATIO))
  }
  if (maxTimes <= CALM_TIMES && stopMs === undefined) {
    const denied = worst((run) => run.denied)
    goals.push(goal('nothing denied', `${denied}`, denied === 0))
  }
  if (hasCritical) {
    const times = worst(({ criticalP99Ms = Number.POSITIVE_INFINITY }) => criticalP99Ms) / idleP99Of(runs)
    const reached = Number.isFinite(times) ? `${times.toFixed(1)} times` : 'lost'
    goals.push(
      goal(`critical p99 at most ${MAX_TIMES_IDLE} times the idle one`, reached, times <= MAX_TIMES_IDLE),
    )
  }
  if (own.some(({ groups }) => groups.others !== undefined)) {
    const lost = worst(({ groups: { others } }) =>
      others === undefined ? 1 : (others.sent - others.good) / others.sent,
    )
    const title = `tenants within their shares together lose at most ${100 * MAX_TENANT_LOSS} %`
    goals.push(goal(title, `${(100 * lost).toFixed(2)} %`, lost <= MAX_TENANT_LOSS))
  }
  if (calmFrom !== undefined) {
    const seconds = worst(({ recoveredAfter = Number.POSITIVE_INFINITY }) => recoveredAfter)
    const reached = Number.isFinite(seconds) ? `${seconds} s` : 'never'
    goals.push(goal(`recovery within ${MAX_RECOVERY_SECONDS} s`, reached, seconds <= MAX_RECOVERY_SECONDS))
  }
  return goals
}

function goal(title: string, reached: string, isMet: boolean): Goal {
  return { title, reached, isMet }
}
