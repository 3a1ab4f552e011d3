import type { Policy } from '../policies/policy.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { Charge, ChargeResult, Operation, Outcome, PartResult } from './operation.js'
import type { StoreError } from './store-error.js'

/** How the operations of concurrent callers go to a store together. */
export interface Batching {
  /** The most keys in a batch. An operation with more goes alone. */
  readonly maxKeys: number
  /** The most batches in flight at once. A stalled batch no longer counts. */
  readonly maxInFlight: number
  /** Whether batches in flight never share a key, as for a store that locks rows. Default false. */
  readonly locksKeys?: boolean
  /** How long a batch delays others while none of its operations has an outcome, in ms. Default 50. */
  readonly stallTimeoutMs?: number
  /** The most batches without any outcome at once, stalled ones included. Default: no limit. */
  readonly maxPending?: number
}

/** One limit of a store whose states are in this process. */
export interface LocalLimit {
  /** Returns the store's time, in milliseconds since the Unix epoch. */
  now(): number
  /** Takes `cost` units of an identity at `nowMs`, as a charge of one part does. */
  take(identity: string, nowMs: number, cost: number): PartResult
}

/** A shortcut to a store whose states are in this process. */
export interface LocalStates {
  /**
   * The `apply` of the store. The shortcut is used only if the store still has it, so an object that wraps
   * the store, such as `{ ...store, apply }`, is called through its own `apply`.
   */
  readonly apply: Store['apply']
  /** Returns the limit whose keys are `before`, an identity, and `after`. */
  limitOf(policy: Policy, before: string, after: string): LocalLimit
  /** Creates an empty store with the same options. */
  createSibling(): Store
}

/** For how long a process repeats a denial of a store, in milliseconds since the denied charge was sent. */
export interface DenialTimes {
  /** At most, for a store to which units come back before a denial's `retryAfterMs` is over. */
  readonly maxMs: number
  /** At least, also where `retryAfterMs` is over before. */
  readonly minMs: number
}

/** Where a store keeps its states. Two stores of the same client and table count in the same keys. */
export interface StoreOrigin {
  /** The user's client, pool or database. */
  readonly client: object
  /** The table, in databases that have some. */
  readonly table?: string
}

/** Notes that processes sharing a store leave for one another, such as the figures of a dashboard. */
export interface ProcessNotes {
  /** Writes the note of one process under a key, which expires if no note is written for `ttlMs`. */
  write(key: string, process: string, note: string, ttlMs: number): Promise<void>
  /** Returns the notes of all processes under a key, in any order. */
  read(key: string): Promise<readonly string[]>
  /** Removes the note of a process. */
  remove(key: string, process: string): Promise<void>
}

/**
 * A store keeps states and applies operations to them. This is its contract. `applyOperations` keeps every
 * rule that needs no database:
 *
 * - **Missing state**: a key without a state is fresh. `undefined` goes to the policy.
 * - **Clock**: one clock for all processes that share the store (the server's, if it has one), in
 *   milliseconds since the Unix epoch. It may step back.
 * - **Atomicity**: an operation is applied in one step, with no other operation on its keys in between. If
 *   one part of a charge is denied, nothing is taken. Each part sees those before it. A store that takes
 *   parts one after the other, as from several servers, refunds those before a denial, sets `isTentative`,
 *   and gives each part its own `atMs`; the `retryAfterMs` of a part after the denying one may be a lower
 *   bound.
 * - **Batches**: operations are applied in the order given, each on the states that those before it left.
 *   Only a charge whose parts are taken one after the other has no order with the rest of its batch: its
 *   parts may be taken after later operations. To apply an operation after such a charge, await the charge
 *   first.
 * - **Writing**: if a step has a `next`, it is stored. For a denied charge, only the `next` of its denied
 *   parts is stored, each computed from the state before the charge. A fresh state is removed.
 * - **Expiry**: a state may be dropped `resetAfterMs` after it was written, rounded up, not earlier.
 * - **Failure**: if the outcome of a batch is unknown, `apply` rejects with (or throws) a `StoreError`. Then
 *   any of its operations may have been applied. An operation that fails alone has a `StoreError` in place
 *   of its result. If the error is `answered` or `unsent`, the operation has changed nothing. A denial is a
 *   result, never a rejection.
 * - **Foreign keys**: an operation on a key that holds something else than a state of its policy fails
 *   alone, with an `answered` error, and changes nothing; `forget` removes the key. A store may also keep
 *   states of different width apart: then the key is fresh.
 */
export interface Store {
  /** The store's name in errors and events, such as `'memory'` or `'redis'`. */
  readonly name: string
  /**
   * Applies operations in order, each atomically. Returns one outcome for each, in order. Returns a promise
   * only if something has to be awaited. A store that knows some outcomes before others, such as those of
   * one of its servers, may pass each to `settle`, with the operation's index, as soon as it is known.
   */
  apply(
    operations: readonly Operation[],
    settle?: (index: number, outcome: Outcome) => void,
  ): MaybePromise<readonly Outcome[]>
  /**
   * How operations of concurrent callers are batched. Default: each goes alone, which suits a store that
   * returns no promises.
   */
  readonly batching?: Batching
  /**
   * For a store whose states are in this process, and whose `apply` never returns a promise. A limiter needs no
   * time-out, circuit breaker or denial cache for it, and hashes no identity. A limiter of one limit charges
   * through `limitOf`, without building an operation.
   */
  readonly local?: LocalStates
  /**
   * Decides a charge that needs no round trip, such as one of units that this process holds. Returns
   * `undefined` for all others, which then go to `apply`. Called for each charge before anything else, so even
   * while the circuit breaker is open. Must be fast.
   */
  decideLocally?(charge: Charge): ChargeResult | undefined
  /**
   * For how long denials are cached; `denyCache` of a limiter bounds both times. Default: until `retryAfterMs`
   * is over.
   */
  readonly denialTimes?: DenialTimes
  /**
   * Returns which server a key lives on now, such as `'10.0.0.7:6379'`; `undefined` while that is not known.
   * For a store of several servers: each then has its own circuit breaker, so that one that is down keeps no
   * calls away from the others. Called for every key of every call, so it must be fast. Must not throw.
   */
  serverOf?(key: string): string | undefined
  /**
   * Where the states are. A limiter without a name then finds out that another one counts in the same keys. A
   * store that wraps another one under other keys replaces it.
   */
  readonly origin?: StoreOrigin
  /** Where processes leave notes. The dashboard then adds up the figures of all processes. */
  readonly notes?: ProcessNotes
  /**
   * Calls `listener`, which must not throw, whenever the store detects that live state was lost (eviction,
   * flush, restart). Returns a function that unsubscribes.
   */
  onLimitsLost?(listener: (error: StoreError) => void): () => void
  /** Releases what the store itself opened (timers, leases), never the user's client. */
  close?(): Promise<void>
}
