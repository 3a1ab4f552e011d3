import type { Policy, State } from '../../policies/policy.js'
import type { Operation, Result } from '../operation.js'
import { applyOperation, FORGOTTEN } from './apply-operation.js'
import { evaluateCharge, type Read } from './evaluate-charge.js'

/** The states to write, by key, and the policies that read them. `undefined` removes a state. */
export type Writes = ReadonlyMap<string, { readonly policy: Policy; readonly state: State | undefined }>

/**
 * Applies operations to states, in order, each on what those before it left. One that fails, since `read` or
 * a policy throws, changes nothing, and has the error in place of its result; the others still apply.
 */
export function applyInOrder(
  operations: readonly Operation[],
  read: Read,
  nowMs: number,
): { readonly results: readonly (Result | Error)[]; readonly writes: Writes } {
  const writes = new Map<string, { policy: Policy; state: State | undefined }>()
  const current: Read = (key, policy) => {
    const written = writes.get(key)
    return written === undefined ? read(key, policy) : written.state
  }

  function apply(operation: Operation): Result {
    if (operation.type === 'charge') {
      const outcome = evaluateCharge(operation.parts, current, nowMs)
      for (const [key, write] of outcome.writes) writes.set(key, write)
      return outcome.verdict
    }
    const { key, policy } = operation
    if (operation.type === 'forget') {
      writes.set(key, { policy, state: undefined }) // also what cannot be read
      return FORGOTTEN
    }
    const before = current(key, policy)
    const { state, result } = applyOperation(operation, before, nowMs)
    if (state !== before) writes.set(key, { policy, state })
    return result
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
