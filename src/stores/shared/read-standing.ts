import { banLeftMs, isBan } from '../../policies/ban.js'
import { type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'
import type { KeyedPolicy, Store } from '../store.js'

/** What a key has left of its limit. Times are milliseconds from now; `Infinity` is never. */
export interface Standing {
  readonly limit: number
  /** Units left; none during a ban. */
  readonly remaining: number
  /** Until `remaining` grows. */
  readonly moreAfterMs: number
  /** Until nothing is left of what was taken. */
  readonly resetAfterMs: number
  /** Until a ban ends; 0 where there is none. */
  readonly bannedForMs: number
}

/**
 * Reads what a key has left, and writes nothing; `undefined` where the key has taken nothing. `update` is
 * that of a store, which a store need not have.
 */
export function readStanding(
  update: NonNullable<Store['update']>,
  keyed: KeyedPolicy,
): MaybePromise<Standing | undefined> {
  let standing: Standing | undefined
  const { policy } = keyed
  const read = update(keyed, (state, nowMs) => {
    if (state === undefined) return undefined
    const { remaining, moreAfterMs, resetAfterMs } = policy.take(state, nowMs, 0)
    const bannedForMs = isBan(policy) ? banLeftMs(policy, state, nowMs) : 0
    standing = { limit: policy.limit, remaining, moreAfterMs, resetAfterMs, bannedForMs }
    return state
  })
  return thenMaybe(read, () => (standing?.resetAfterMs === 0 ? undefined : standing))
}
