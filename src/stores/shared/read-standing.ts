import { type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'
import type { KeyedPolicy, Standing, Take, TakeResult } from '../operation.js'

/** What a key has left of its limit. Durations are milliseconds from now. */
export interface KeyStanding extends Omit<Standing, 'atMs' | 'debt'> {
  readonly limit: number
}

/**
 * Reads what a key has left, and writes nothing. Returns `undefined` if the key has taken nothing. `apply`
 * applies an operation to a store.
 */
export function readStanding(
  apply: (operation: Take) => MaybePromise<TakeResult>,
  { key, policy }: KeyedPolicy,
): MaybePromise<KeyStanding | undefined> {
  return thenMaybe(apply({ type: 'take', key, policy, units: 0 }), (result) => {
    const { remaining, moreAfterMs, resetAfterMs, bannedForMs } = result
    if (resetAfterMs === 0) return undefined
    return { limit: policy.limit, remaining, moreAfterMs, resetAfterMs, bannedForMs }
  })
}
