import type { Policy, State } from '../../policies/policy.js'
import type { Operation, Result } from '../operation.js'
import type { Charge, KeyedPolicy, Refund, Verdict } from '../store.js'
import { applyOperation } from './apply-operation.js'
import { evaluateCharge, type Read } from './evaluate-charge.js'

/** What a store does to the states of keys. */
export type AnyOperation = Charge | Operation | { readonly refund: Refund } | { readonly forget: KeyedPolicy }

/** Returns the keys that an operation reads or writes, with their policies. */
export function keysOf(operation: AnyOperation): readonly KeyedPolicy[] {
  if ('refund' in operation) return [operation.refund]
  if ('forget' in operation) return [operation.forget]
  return 'type' in operation ? [operation] : operation
}

/** What comes of an operation: nothing of a refund or a `forget`; an error if it changed nothing. */
export type AnyResult = Verdict | Result | Error | undefined

/** The states to write, by key, and the policies that read them. `undefined` removes a state. */
export type Writes = ReadonlyMap<string, { readonly policy: Policy; readonly state: State | undefined }>

/**
 * Applies operations to states, in order, each on what those before it left. One that fails, since `read` or
 * a policy throws, changes nothing; the others still apply.
 */
export function applyInOrder(
  operations: readonly AnyOperation[],
  read: Read,
  nowMs: number,
): { readonly results: readonly AnyResult[]; readonly writes: Writes } {
  const writes = new Map<string, { policy: Policy; state: State | undefined }>()
  const current: Read = (key, policy) => {
    const written = writes.get(key)
    return written === undefined ? read(key, policy) : written.state
  }

  function apply(operation: AnyOperation): AnyResult {
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
    if ('type' in operation) {
      const { key, policy } = operation
      const before = current(key, policy)
      const { state, result } = applyOperation(operation, before, nowMs)
      if (state !== before) writes.set(key, { policy, state })
      return result
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
