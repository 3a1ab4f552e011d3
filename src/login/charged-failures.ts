import type { Decision } from '../limiter/decision.js'
import { decidedUnits } from '../limiter/undecided.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'

/** The limits that tell how many failures an account has. */
const COUNTS = ['consecutive', 'account']

/** Returns how many attempts at the account a decision shows: the highest count of its limits. */
export function attemptsIn({ parts }: Decision): number {
  const ofAccount = parts.filter(({ name }) => COUNTS.includes(name))
  return Math.max(0, ...ofAccount.map(({ limit, remaining }) => limit - remaining))
}

/**
 * Returns how many failures the account of a decision has now, at least. Attempts in progress in any process
 * do not count. An attempt may take long, so others may have failed since it was charged.
 */
export function failuresNow(decision: Decision): MaybePromise<number> {
  return thenMaybe(decidedUnits(decision, COUNTS), (units) => Math.max(0, ...units))
}
