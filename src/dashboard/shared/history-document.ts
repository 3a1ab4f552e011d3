import type { Fields } from '../../util/values.js'
import { type AddedSteps, addedIn, missingSteps, withAdded } from './added-steps.js'
import type { StepCounts } from './steps.js'

/** 48 hours in steps of five minutes, and two hours more. */
const MAX_STEPS = 600
/** How many steps the clocks of processes may differ, and a process may be behind that has waited for the store. */
const MAX_AHEAD = 288

/** What all processes have counted of a limiter. */
export interface LimiterSteps {
  readonly added: AddedSteps
  /** In order, without those of which nothing is known. */
  readonly steps: readonly StepCounts[]
}

/**
 * Returns the history with the steps of a process that it does not have yet. `undefined` if it has them all, or if
 * the clock of this process is so far behind that most of the history would lie in the future.
 *
 * A clock that is far ahead does no harm either: its steps are dropped by the next process that adds one, and no
 * step is dropped because of them.
 */
export function withSteps(
  { added, steps }: LimiterSteps = { added: [], steps: [] },
  process: string,
  finished: readonly StepCounts[],
): LimiterSteps | undefined {
  const missing = missingSteps(added, process, finished)
  const newest = missing.at(-1)?.step
  if (newest === undefined) return undefined
  const plausible = steps.filter(({ step }) => step <= newest + MAX_AHEAD)
  if (plausible.length < steps.length / 2) return undefined
  const sums = new Map(plausible.map((each) => [each.step, each]))
  for (const { step, allowed, denied } of missing) {
    const sum = sums.get(step)
    sums.set(step, {
      step,
      allowed: (sum?.allowed ?? 0) + allowed,
      denied: (sum?.denied ?? 0) + denied,
    })
  }
  const ordered = [...sums.values()].sort((a, b) => a.step - b.step)
  return { added: withAdded(added, process, newest), steps: ordered.slice(-MAX_STEPS) }
}

export const HISTORY_CODEC = {
  decode({ added, steps }: Fields): LimiterSteps | undefined {
    if (!Array.isArray(steps)) return undefined
    const decoded = steps.slice(-MAX_STEPS).flatMap((each: unknown) => {
      if (!Array.isArray(each) || !each.every((count) => Number.isSafeInteger(count) && count >= 0)) return []
      const [step, allowed, denied] = each as readonly number[]
      return step === undefined || allowed === undefined || denied === undefined
        ? []
        : [{ step, allowed, denied }]
    })
    return { added: addedIn(added), steps: decoded }
  },
  encode: ({ added, steps }: LimiterSteps) => ({
    added,
    steps: steps.map(({ step, allowed, denied }) => [step, allowed, denied]),
  }),
}
