import { byWait, envoyGradient, fixedLimit, gradient2, loopDelay, noGuard, overloadGuard } from './guards.js'
import { type MakeSimulatedGuard, type OverloadOutcome, type OverloadScenario, runOverload } from './world.js'

/** How a guard did, beside the right fixed limit under the same requests. */
export interface Figures {
  /** Answered while the client waited, as a ratio to the right fixed limit. */
  readonly goodput: number
  /** The share of requests that were denied. */
  readonly denied: number
  /** `undefined` if none was critical, and `Infinity` if more than a hundredth of them were denied. */
  readonly criticalP99Ms: number | undefined
  /** What the worst tenant lost of what it sent within its share; `undefined` without tenants. */
  readonly worstTenant: number | undefined
  /** Seconds after the end of the overload until a second was as good as 0.9 of the fixed limit's. */
  readonly recoveryS: number | undefined
  readonly limit: number | undefined
}

export type GuardName = 'none' | 'right fixed limit' | 'loop delay' | 'Gradient2' | 'Envoy' | 'headgate'

/** The guards, by what the report calls them. */
export const GUARDS: Readonly<Record<GuardName, (scenario: OverloadScenario) => MakeSimulatedGuard>> = {
  none: () => noGuard,
  'right fixed limit': rightLimit,
  'loop delay': () => loopDelay,
  Gradient2: () => gradient2,
  Envoy: () => envoyGradient,
  headgate: () => overloadGuard,
}

/** Runs a scenario with some of the guards, once with each seed from 1. */
export function compareGuards(
  scenario: OverloadScenario,
  seeds: number,
  names: readonly GuardName[],
): ReadonlyMap<GuardName, readonly Figures[]> {
  const all = new Map<GuardName, Figures[]>(names.map((name) => [name, []]))
  for (let seed = 1; seed <= seeds; seed++) {
    const reference = runOverload(scenario, rightLimit(scenario), seed)
    for (const [name, figures] of all) {
      const isReference = name === 'right fixed limit'
      const outcome = isReference ? reference : runOverload(scenario, GUARDS[name](scenario), seed)
      figures.push(figuresOf(outcome, scenario, reference))
    }
  }
  return all
}

/** A process that does its work itself has no limit that is right: what helps is how long requests waited. */
function rightLimit({ isOwnCpu, patienceMs, rightLimit: limit = 16 }: OverloadScenario): MakeSimulatedGuard {
  return isOwnCpu ? byWait(patienceMs / 2) : fixedLimit(limit)
}

function figuresOf(
  outcome: OverloadOutcome,
  scenario: OverloadScenario,
  reference: OverloadOutcome,
): Figures {
  const { good, denied, sent, criticalMs, limit } = outcome
  return {
    goodput: good / reference.good,
    denied: denied / sent,
    criticalP99Ms: criticalMs[Math.floor(criticalMs.length * 0.99)],
    worstTenant: worstTenantOf(outcome, scenario, reference),
    recoveryS: recoveryOf(outcome, scenario, reference),
    limit,
  }
}

function worstTenantOf(
  { byTenant }: OverloadOutcome,
  { weights }: OverloadScenario,
  reference: OverloadOutcome,
) {
  if (weights === undefined) return undefined
  const total = Array.from(weights.values()).reduce((sum, each) => sum + each)
  const losses = Array.from(weights, ([id, weight]) => {
    const { sent, good } = byTenant.get(id) ?? { sent: 0, good: 0 }
    return 1 - good / Math.min(sent, (reference.good * weight) / total)
  })
  return Math.max(...losses)
}

function recoveryOf(
  { goodBySecond }: OverloadOutcome,
  { endsAtMs }: OverloadScenario,
  reference: OverloadOutcome,
) {
  if (endsAtMs === undefined) return undefined
  const from = endsAtMs / 1000
  const isAsGood = (second: number) =>
    (goodBySecond[second] as number) >= 0.9 * (reference.goodBySecond[second] as number)
  let second = from
  while (second < goodBySecond.length && !isAsGood(second)) second++
  return second - from
}
