import type { Policy, State } from '../../policies/policy.js'
import { evaluateCharge } from '../shared/evaluate-charge.js'
import type { Charge, Part, Refund, Verdict } from '../store.js'

/** An operation on one key, which all parts of a charge name. */
export type Operation = Charge | Refund

/** A verdict; `undefined` for a refund. */
export type Result = Verdict | undefined

/** How operations on one key become atomic. */
export interface Strategy {
  /** Decides charges of one key, in order. */
  charge(key: string, charges: readonly Charge[], policy: Policy): Promise<readonly Result[]>
  refund(key: string, refund: Refund): Promise<void>
  forget(key: string, policy: Policy): Promise<void>
}

/** Applies operations to a state, in order, without writing it. An `undefined` state is fresh. */
export function applyOperations(
  state: State | undefined,
  operations: readonly Operation[],
  nowMs: number,
): { results: readonly Result[]; state: State | undefined } {
  let current = state
  const results = operations.map((operation): Result => {
    if ('takenAtMs' in operation) {
      const { policy, cost, takenAtMs, resetAtMs } = operation
      if (current !== undefined) current = policy.refund(current, nowMs, cost, takenAtMs, resetAtMs)
      return undefined
    }
    const { verdict, writes } = evaluateCharge(operation, () => current, nowMs)
    for (const write of writes.values()) current = write.state
    return verdict
  })
  return { results, state: current }
}

export function policyOf(operation: Operation): Policy {
  return 'takenAtMs' in operation ? operation.policy : (operation[0] as Part).policy
}
