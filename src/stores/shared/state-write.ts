import { hasOwnNumbers, type State } from '../../policies/policy.js'
import { policyOfState } from '../../policies/policy-of-state.js'
import type { Write } from './apply-batch.js'

/** A state for a store to write. */
export interface StateWrite {
  readonly key: string
  /** The state that replaces the key's. If it is `undefined`, the key is removed. */
  readonly state: State | undefined
  /** How long the state has to be kept, in whole milliseconds or `Infinity`. 0 only if the key is removed. */
  readonly ttlMs: number
}

/**
 * Returns what to write for a key. A state that is fresh by now is removed. A refund leaves a state under the
 * numbers that it has, which say how long it has to be kept.
 */
export function stateWrite(key: string, { policy, state }: Write, nowMs: number): StateWrite {
  if (state === undefined) return { key, state, ttlMs: 0 }
  const owner = hasOwnNumbers(policy, state) ? policy : (policyOfState(policy, state) ?? policy)
  const ttlMs = Math.ceil(owner.take(state, nowMs, 0).resetAfterMs)
  return { key, state: ttlMs === 0 ? undefined : state, ttlMs }
}
