import type { Step } from '../policies/policy.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { KeyedPolicy, Operation, Result } from './operation.js'
import type { StoreError } from './store-error.js'

export type { KeyedPolicy } from './operation.js'

/** What a charge takes from one key: `cost` whole units. Cost 0 is a peek. */
export interface Part extends KeyedPolicy {
  readonly cost: number
}

/** All that one request takes, or nothing: where one part is denied, no part is taken. */
export type Charge = readonly Part[]

/** The figures of one part: a policy's step without the state. */
export interface PartVerdict extends Omit<Step, 'next'> {
  /**
   * When this part was taken, by the store's clock. Set where parts of an allowed charge are taken at
   * different times, such as on several servers. Default: the verdict's `atMs`.
   */
  readonly atMs?: number
}

/** A store's answer to one charge. */
export interface Verdict {
  readonly allowed: boolean
  /** Set where a denial cache or a lease answered; absent where the store did. */
  readonly source?: 'deny-cache' | 'lease'
  /** Set on a denial that may end before its `retryAfterMs`, when another charge refunds its units. */
  readonly isTentative?: true
  /** When the charge was decided, by the store's clock, in ms since the Unix epoch. Refunds need it. */
  readonly atMs: number
  /**
   * One per part, in order. A denied charge takes nothing: its parts have the figures without the charge,
   * and `allowed` says whether the part alone would have been allowed.
   */
  readonly parts: readonly PartVerdict[]
}

/** A refund of what one part took. */
export interface Refund extends Part {
  readonly takenAtMs: number
  /** `takenAtMs` plus the part's `resetAfterMs`: when the key would have been fresh again. */
  readonly resetAtMs?: number
}

/**
 * A store keeps states and decides charges atomically. Its contract, of which `decideCharges`,
 * `applyRefunds` and `applyOperations` keep all that needs no database:
 *
 * - **Missing value**: `undefined` goes to `policy.take`, which reads it as a fresh state.
 * - **Clock**: one clock for all processes that share the store (the server's, where it has one), in
 *   milliseconds since the Unix epoch. It may step back.
 * - **Atomicity**: a charge is decided and written in one step, with no other charge of its keys in between.
 *   If one part is denied, nothing is taken. Parts of one charge may name the same key; each sees those
 *   before it. A store that takes parts one after the other, as from several servers, refunds those before
 *   a denial, sets `isTentative`, and gives each part its own `atMs`; the `retryAfterMs` of a part after
 *   the denying one may be a lower bound.
 * - **Batches**: charges are decided in the order given, each on the states that those before it left.
 * - **Writing**: a step's `next` is stored where it is present. Of a denied charge only the `next` of its
 *   denied parts is stored, as taken from the states before the charge.
 * - **Expiry**: a state may be dropped `resetAfterMs` after it was written, rounded up, not earlier.
 * - **Failure**: where the outcome is unknown, `charge` rejects with (or throws) `StoreError`. A denial is a
 *   verdict, never a rejection.
 */
export interface Store {
  /** The store's name in errors and events, such as `'memory'` or `'redis'`. */
  readonly name: string
  /**
   * Decides charges in order, each atomically and all or nothing. Returns one verdict per charge, in order;
   * a promise only where something has to be awaited.
   */
  charge(charges: readonly Charge[]): MaybePromise<readonly Verdict[]>
  /** Refunds units. Removes a key whose state is fresh after that. Unknown keys are no error. */
  refund(refunds: readonly Refund[]): MaybePromise<void>
  /**
   * Renews units that `concurrency` holds, and restores those that were lost: they are held as if they were
   * taken now. Returns their new `resetAtMs`. Only a store that has this method takes such policies.
   */
  renew?(units: Refund): MaybePromise<number>
  /** Removes the states of these keys, as if they had never been charged. Unknown keys are no error. */
  forget(keys: readonly KeyedPolicy[]): MaybePromise<void>
  /**
   * Applies operations in order, each with no charge of its key in between, and returns their results in order.
   * A fresh state is removed, as by a refund. If it fails, any of them may have been applied. A store need not
   * have it: it is for `penalize`, `reward`, `blockFor` and `adjust`, and for tools that show what a key has
   * left.
   */
  apply?(operations: readonly Operation[]): MaybePromise<readonly Result[]>
  /**
   * Returns which server a key lives on now, such as `'10.0.0.7:6379'`; `undefined` while that is not known.
   * For a store of several servers: each then has its own circuit breaker, so that one that is down keeps no
   * calls away from the others. Called for every key of every call, so it must be fast. Must not throw.
   */
  serverOf?(key: string): string | undefined
  /**
   * Calls `listener`, which must not throw, whenever the store detects that live state was lost (eviction,
   * flush, restart). Returns a function that unsubscribes.
   */
  onLimitsLost?(listener: (error: StoreError) => void): () => void
  /** Releases what the store itself opened (timers, leases), never the user's client. */
  close?(): Promise<void>
}
