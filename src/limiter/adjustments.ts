import type { Duration } from '../util/durations.js'
import type { Decision } from './decision.js'

/** Options of adjustments: which of the limits to change. */
export interface AdjustmentOptions {
  /**
   * The names of the limits to change, whose keys alone are read. Default: all. An unknown name is a
   * `TypeError`.
   */
  readonly limits?: readonly string[]
}

/**
 * What to adjust. It is a subject, an object with what the key functions read, or a decision, which stands
 * for the keys that it charged.
 */
export type Adjustable<Subject> = Subject | Record<string, unknown> | Decision

/**
 * Changes what limits have counted. Each limit is changed atomically, in every store.
 *
 * - **Errors.** These methods reject with `TypeError` for wrong arguments, and with `StoreError` if the store
 *   failed. The store may have made the change all the same.
 * - **Fallback store.** `adjust` and `refund` act where the units were taken: in the store, or in the
 *   fallback store. `forget` also applies to the fallback store. So do the other changes, if the store
 *   failed and `onStoreError` may choose the fallback store.
 * - **Concurrency.** Of these methods, only `forget` changes a `concurrency` limit.
 */
export interface Adjustments<Subject> {
  /**
   * Refunds the units that a decision took, once. A copy of the decision has no effect. With `limits`,
   * refunds only the units of these limits, and the rest stay taken. After a failure, the units may be back,
   * and cannot be refunded again. If the store could not be called, they are refunded later. To give back
   * the units of a `concurrency` limit, call `release`.
   */
  refund(decision: Decision, options?: AdjustmentOptions): Promise<void>
  /**
   * Forgets all that this subject's keys have used. Limits for which it has no key are left out, such as
   * those by address. The subject may be any object that has what the key functions read, such as
   * `{ body: { username: 'ada' } }` for `byField('username')`. Rejects if a key needs the IP address of a
   * request whose connection is closed. In that case, pass the decision.
   */
  forget(subject: Adjustable<Subject>, options?: AdjustmentOptions): Promise<void>
  /**
   * Takes units of each limit, but at most those that are left and those that its policy's `debt` allows. A
   * ban does not count this as a denial.
   */
  penalize(subject: Adjustable<Subject>, units: number, options?: AdjustmentOptions): Promise<void>
  /** Gives back up to `units` units of each limit, whenever they were taken. Does not end a ban. */
  reward(subject: Adjustable<Subject>, units: number, options?: AdjustmentOptions): Promise<void>
  /**
   * Bans the subject for `duration` from now on, in those of its limits whose policy is a `ban`. Never
   * shortens a ban. Only `forget` ends one. Rejects with a `TypeError` if no limit is a `ban`, or if
   * `duration` is longer than the longest ban in `for`.
   */
  blockFor(subject: Adjustable<Subject>, duration: Duration, options?: AdjustmentOptions): Promise<void>
  /**
   * Corrects the cost of an allowed decision to `actualCost`, if the cost is known only after the response.
   * Each limit refunds the difference, or takes it as far as units are left or the policy's `debt` allows. A
   * later `refund` returns everything that is then taken. Does nothing for a denial, for a peek, and after a
   * refund of the decision.
   *
   * You may call it several times, such as while you stream a response, and again after a failure. If the
   * outcome was unknown, units that it tried to take count as not taken, and units that it tried to refund
   * count as refunded.
   */
  adjust(decision: Decision, actualCost: number, options?: AdjustmentOptions): Promise<void>
}
