import { policyOfState } from '../../policies/policy-of-state.js'
import { type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'
import type { KeyedPolicy, Standing, Take, TakeResult } from '../operation.js'
import { applyOperation } from './apply-batch.js'

/** What a key has left of its limit. Durations are milliseconds from now. */
export interface KeyStanding extends Omit<Standing, 'atMs' | 'debt'> {
  readonly limit: number
}

/**
 * Reads what a key has left, and writes nothing. The limit is the one that the state was written under, since
 * other policies may share the key; if the store does not return states, it is that of `policy`. Returns
 * `undefined` if the key has taken nothing. `apply` applies an operation to a store.
 */
export function readStanding(
  apply: (operation: Take) => MaybePromise<TakeResult>,
  { key, policy }: KeyedPolicy,
): MaybePromise<KeyStanding | undefined> {
  const take = { type: 'take', key, policy, units: 0 } as const
  return thenMaybe(apply({ ...take, withState: true }), (result) => {
    const { state, atMs } = result
    const own = (state && policyOfState(policy, state)) ?? policy
    const standing = state ? applyOperation({ ...take, policy: own }, state, atMs).result : result
    const { remaining, moreAfterMs, resetAfterMs, bannedForMs } = standing as TakeResult
    if (resetAfterMs === 0) return undefined
    return { limit: own.limit, remaining, moreAfterMs, resetAfterMs, bannedForMs }
  })
}
