import type { Policy, State } from '../../policies/policy.js'
import type { Operation, Result } from '../operation.js'
import { applyOperation } from './apply-operation.js'
import { evaluateCharge, type Read } from './evaluate-charge.js'

/** A state to write, and the policy that reads it. `undefined` removes the key. */
export interface Write {
  readonly policy: Policy
  readonly state: State | undefined
}

/** The states to write, by key. */
export type Writes = ReadonlyMap<string, Write>

/**
 * Applies a batch of operations to states, in order, each on what those before it left. One that fails,
 * since `read` or a policy throws, changes nothing, and has the error in place of its result; the others
 * still apply.
 */
export function applyBatch(
  operations: readonly Operation[],
  read: Read,
  nowMs: number,
): { readonly results: readonly (Result | Error)[]; readonly writes: Writes } {
  const writes = new Map<string, Write>()
  const current: Read = (key, policy) => {
    const written = writes.get(key)
    return written === undefined ? read(key, policy) : written.state
  }
  const readNow = operations.length === 1 ? read : current
  const results: (Result | Error)[] = []
  for (const operation of operations) {
    try {
      results.push(applyTo(writes, operation, readNow, nowMs))
    } catch (error) {
      results.push(error as Error)
    }
  }
  return { results, writes }
}

/** Applies one operation, and adds what it writes. */
function applyTo(writes: Map<string, Write>, operation: Operation, read: Read, nowMs: number): Result {
  if (operation.type === 'charge') {
    const outcome = evaluateCharge(operation.parts, read, nowMs)
    for (const [key, write] of outcome.writes) writes.set(key, write)
    return outcome.verdict
  }
  const { type, key, policy } = operation
  const before = type === 'forget' ? undefined : read(key, policy) // what cannot be read is forgotten, too
  const { state, result } = applyOperation(operation, before, nowMs)
  if (state !== before || type === 'forget') writes.set(key, { policy, state })
  return result
}
