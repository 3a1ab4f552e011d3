import type { Policy, Step } from '../policies/policy.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { StoreError } from './store-error.js'

/** A key, and the policy by which it is counted: a key belongs to one policy. */
export interface KeyedPolicy {
  /** The key at rest, complete and bounded; a store uses it as it is. */
  readonly key: string
  readonly policy: Policy
}

/** One of the things that a charge takes: `cost` whole units of `policy` for `key`. Cost 0 only looks. */
export interface Part extends KeyedPolicy {
  readonly cost: number
}

/** What one request wants to take. All or nothing: if one part is denied, no part is taken. */
export type Charge = readonly Part[]

/** A step as a store reports it: the figures, without the state. */
export interface PartVerdict extends Omit<Step, 'next'> {
  /**
   * When this part was taken, by the store's clock. Set where parts of an allowed charge are taken at
   * different moments, such as on several servers: a refund must reach the window that the units came from.
   * Default: the verdict's `atMs`.
   */
  readonly atMs?: number
}

/** A store's answer to one charge. */
export interface Verdict {
  readonly allowed: boolean
  /**
   * Who answered in the store's place: a memory of its denials, or units that were leased from it before. A store leaves it out.
   */
  readonly source?: 'deny-cache' | 'lease'
  /** Set on a denial that may be over before its `retryAfterMs`: other charges held units meanwhile that they may give back. */
  readonly isTentative?: true
  /**
   * The moment of the decision by the store's clock, in milliseconds since the Unix epoch. A refund needs
   * it. A part that was taken at another moment carries its own.
   */
  readonly atMs: number
  /**
   * One per part, in order. When the charge is denied nothing was taken, so each part shows its figures as they stand;
   * its `allowed` tells whether this part alone would have been allowed.
   */
  readonly parts: readonly PartVerdict[]
}

/** Units to give back: what one part took, and when. */
export interface Refund extends Part {
  readonly takenAtMs: number
  /** When the key would have been fresh again after that: `takenAtMs` plus the part's `resetAfterMs`. */
  readonly resetAtMs?: number
}

/**
 * Where states live, and what makes a decision atomic. To write one, keep to this:
 *
 * - **Missing value**: `undefined` goes to `policy.take`, which reads it as fresh.
 * - **Clock**: one clock for all processes that share the store (the server's, where it has one), in milliseconds since
 *   the Unix epoch. It may step; policies cope.
 * - **Atomicity**: a charge is decided and written as one: no other charge of one of its keys comes between.
 *   If one part is denied, nothing is taken. Parts of one charge may name the same key; they see each other.
 *   A store that takes parts one after the other gives each its own `atMs`.
 * - **Batches**: charges are decided in the order given; two charges of one key in one batch see each other.
 * - **Writing**: a step's `next` is stored where it is there, and nothing is stored where it is not. With a denial
 *   only the denying part's `next` is stored.
 * - **Expiry**: a state may be dropped `resetAfterMs` after it was written, rounded up, not earlier.
 * - **Outcome unknown**: reject with (or throw) `StoreError`. A denial is an answer, never a rejection.
 */
export interface Store {
  /** What errors and events call this store, such as `'memory'` or `'redis'`. */
  readonly name: string
  /**
   * Decides the charges in order, each atomically and all or nothing. Synchronous where nothing has to be waited for.
   * Gives one verdict per charge, in order.
   */
  charge(charges: readonly Charge[]): MaybePromise<readonly Verdict[]>
  /** Gives units back through `policy.refund`; a state that comes out `undefined` is removed. Unknown keys are no error. */
  refund(refunds: readonly Refund[]): MaybePromise<void>
  /** Removes the states of these keys, as if they had never been charged. Unknown keys are no error. */
  forget(held: readonly KeyedPolicy[]): MaybePromise<void>
  /**
   * Has `listener` told of each time that the store finds live limits gone: evicted, flushed, lost with a restart. It must not throw.
   * Gives what ends that.
   */
  onLimitsLost?(listener: (error: StoreError) => void): () => void
  /** Lets go of what the store itself opened (timers, leases), never of the user's client. */
  close?(): Promise<void>
}
