import type { Policy } from '../../policies/policy.js'
import { processWide } from '../../util/process-wide.js'
import type { PartResult } from '../operation.js'
import type { Store } from '../store.js'

/** One limit of a store whose states are in this process. */
export interface LocalLimit {
  /** Returns the store's time, in milliseconds since the Unix epoch. */
  now(): number
  /**
   * Takes `cost` units of an identity at `nowMs`, as a charge of one part does. If the limit takes only
   * plain identities, takes nothing of any other, and returns `undefined`.
   */
  take(identity: string, nowMs: number, cost: number): PartResult | undefined
}

/**
 * A shortcut to a store whose states are in this process, and whose `apply` never returns a promise. A
 * limiter puts no pipe in front of it, and does not hash identities. A limiter of one limit charges through
 * `limitOf`, without building an operation.
 */
export interface LocalStates {
  /**
   * Returns the limit of a policy whose keys are `before`, then an identity, then `after`. Plain identities
   * have only characters from U+0001 to U+00FF.
   */
  limitOf(policy: Policy, before: string, after: string, takesPlainOnly: boolean): LocalLimit
  /** Creates an empty store with the same options. */
  createSibling(): Store
}

/** By `apply`, so that a wrapper such as `{ ...store, apply }` is called through its own `apply`. */
const statesByApply = processWide('localStates', () => new WeakMap<Store['apply'], LocalStates>())

/** Records the shortcut to a store. */
export function setLocalStates(apply: Store['apply'], states: LocalStates): void {
  statesByApply.set(apply, states)
}

/**
 * Returns the shortcut to a store whose states are in this process; `undefined` for any other, or a wrapper.
 */
export function localStatesOf({ apply, batching }: Store): LocalStates | undefined {
  return batching === undefined ? statesByApply.get(apply) : undefined
}
