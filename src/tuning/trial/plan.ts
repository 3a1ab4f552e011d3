import type { LimitDemand } from '../client-demand.js'
import { propose } from '../propose.js'
import type { TrialPlan } from './trial.js'

/** What an operator asks to be tried. */
export type AskedTrial = Omit<TrialPlan, 'apart' | 'apartFrom'>

/** The times and the share of a trial, if an operator names none. */
export const TRIAL_DEFAULTS = { watchMs: 86_400_000, guardMs: 3_600_000, maxHarmedShare: 0.01 } as const

/** Returns the plan of a trial. The clients that stand apart now are not in good standing. */
export function planOf(asked: AskedTrial, demand: LimitDemand | undefined): TrialPlan {
  const { apart } = demand === undefined ? {} : propose(demand)
  if (apart === undefined) return { ...asked, apart: [] }
  return { ...asked, apart: apart.largest.map(({ identity }) => identity), apartFrom: apart.smallestPeak }
}
