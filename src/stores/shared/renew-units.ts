import type { Policy, State } from '../../policies/policy.js'
import { show } from '../../util/validate.js'
import type { Refund } from '../store.js'
import { checkRefunds } from './validate.js'

/** What a renewal makes of a state. */
export interface Renewal {
  readonly state: State
  /** When time alone frees the renewed units. */
  readonly resetAtMs: number
}

/** Throws a `TypeError` for units that cannot be renewed. */
export function checkRenewal(owner: string, units: Refund): void {
  checkRefunds(owner, [units])
  const { kind, renew } = units.policy
  if (renew !== undefined) return
  throw new TypeError(`${owner}: only units of concurrency are renewed, got those of ${show(kind)}.`)
}

/** Renews held units in a state. They must be those of `concurrency`. */
export function renewUnits(units: Refund, state: State | undefined, nowMs: number): Renewal {
  const { policy, cost, takenAtMs, resetAtMs } = units
  const renew = policy.renew as NonNullable<Policy['renew']>
  const renewed = renew(state, nowMs, cost, takenAtMs, resetAtMs)
  return { state: renewed, resetAtMs: nowMs + policy.take(renewed, nowMs, 0).resetAfterMs }
}
