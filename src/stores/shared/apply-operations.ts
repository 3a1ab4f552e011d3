import type { Policy, State } from '../../policies/policy.js'
import type { Charge, KeyedPolicy, Refund, StateChange, Verdict } from '../store.js'
import { changeState } from './change-state.js'
import { evaluateCharge, type Read } from './evaluate-charge.js'

/** What a store does to the states of keys. */
export type Operation =
  | Charge
  | { readonly refund: Refund }
  | { readonly forget: KeyedPolicy }
  | { readonly update: KeyedPolicy; readonly change: StateChange }

/** Returns the keys that an operation reads or writes, with their policies. */
export function keysOf(operation: Operation): readonly KeyedPolicy[] {
  if ('refund' in operation) return [operation.refund]
  if ('forget' in operation) return [operation.forget]
  return 'update' in operation ? [operation.update] : operation
}

/** The verdict of a charge, `undefined` for other operations; an error if the operation changed nothing. */
export type Result = Verdict | Error | undefined

/** The states to write, by key, and the policies that read them. `undefined` removes a state. */
export type Writes = ReadonlyMap<string, { readonly policy: Policy; readonly state: State | undefined }>

/**
 * Applies operations to states, in order, each on what those before it left. One that fails, since `read` or
 * a policy throws, changes nothing; the others still apply.
 */
export function applyOperations(
  operations: readonly Operation[],
  read: Read,
  nowMs: number,
): { readonly results: readonly Result[]; readonly writes: Writes } {
  const writes = new Map<string, { policy: Policy; state: State | undefined }>()
  const current: Read = (key, policy) => {
    const written = writes.get(key)
    return written === undefined ? read(key, policy) : written.state
  }

  function apply(operation: Operation): Result {
    if ('refund' in operation) {
      const { key, policy, cost, takenAtMs, resetAtMs } = operation.refund
      const state = current(key, policy)
      if (state !== undefined)
        writes.set(key, { policy, state: policy.refund(state, nowMs, cost, takenAtMs, resetAtMs) })
      return undefined
    }
    if ('forget' in operation) {
      const { key, policy } = operation.forget
      writes.set(key, { policy, state: undefined })
      return undefined
    }
    if ('update' in operation) {
      const { key, policy } = operation.update
      const state = current(key, policy)
      const changed = changeState(policy, state, nowMs, operation.change)
      if (changed !== state) writes.set(key, { policy, state: changed })
      return undefined
    }
    const outcome = evaluateCharge(operation, current, nowMs)
    for (const [key, write] of outcome.writes) writes.set(key, write)
    return outcome.verdict
  }

  const results = operations.map((operation) => {
    try {
      return apply(operation)
    } catch (error) {
      return error as Error
    }
  })
  return { results, writes }
}
