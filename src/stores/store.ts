import type { MaybePromise } from '../util/maybe-promise.js'
import type { Documents } from './documents.js'
import type { Operation, Outcome } from './operation.js'
import type { StoreError } from './store-error.js'

/** How operations of concurrent callers are batched. */
export interface Batching {
  /** The most keys in a batch. An operation with more is sent alone. */
  readonly maxKeys: number
  /** The most batches in flight at once. A stalled batch no longer counts. */
  readonly maxInFlight: number
  /** Whether batches in flight must not share a key, as in a store that locks rows. Default false. */
  readonly locksKeys?: boolean
  /** How long a batch without any outcome delays others, in milliseconds. Default 50. */
  readonly stallTimeoutMs?: number
  /** The most batches without any outcome at once, including stalled ones. Default: no limit. */
  readonly maxPending?: number
  /**
   * Whether each batch leaves in its own turn of the event loop. Set it for a client that writes all commands
   * of one turn together. A server that reads batches together also replies to them together, and then this
   * process and the server wait for each other. Default false.
   */
  readonly onePerTurn?: boolean
}

/** Where a store keeps its states. Two stores with the same client and table share their keys. */
export interface StoreOrigin {
  /** The user's client, pool or database. */
  readonly client: object
  /** The table, if the database has tables. */
  readonly table?: string
}

/**
 * Keeps states, and applies operations to them. The following rules are its contract. `applyOperations`
 * keeps every rule that needs no database. Pass an object of your own to `customStore` before you give it to
 * a limiter, and also an object that wraps another store.
 *
 * - **Missing state**: a key without a state is fresh. The policy gets `undefined`.
 * - **Clock**: one clock for all processes that share the store (the server's, if it has one), in
 *   milliseconds since the Unix epoch. It may step back.
 * - **Atomicity**: an operation is applied in one step, with no other operation on its keys in between. Each
 *   part of a charge sees those before it. If one part is denied, nothing is taken.
 * - **Parts one after the other**: a store may take the parts of a charge one after the other, as from
 *   several servers. If a part is denied, it refunds the parts before it and sets `isTentative`. The
 *   `retryAfterMs` of later parts may then be a lower bound. A part of another time has its own `atMs`.
 * - **Batches**: operations are applied in the order given, each on the states that those before it left.
 *   Only a charge whose parts are taken one after the other is unordered: its parts may be taken after later
 *   operations. To apply an operation after such a charge, await the charge first.
 * - **Writing**: if a step has a `next`, it is stored. For a denied charge, only the `next` of its denied
 *   parts is stored, each computed from the state before the charge. A fresh state is removed.
 * - **Expiry**: a state may be dropped no earlier than `resetAfterMs`, rounded up, after it was written.
 * - **Failure**: if the outcome of a batch is unknown, `apply` rejects with (or throws) a `StoreError`. Then
 *   any of its operations may have been applied. An operation that fails alone has a `StoreError` in place
 *   of its result. If the error is `replied` or `unsent`, the operation has changed nothing. A denial is a
 *   result, never a rejection.
 * - **Foreign keys**: a key may hold something other than a state of the operation's policy. Then the
 *   operation fails alone with a `replied` error, and changes nothing. Only `forget` removes the key.
 */
export interface Store {
  /** The store's name in errors and events, such as `'memory'` or `'redis'`. */
  readonly name: string
  /**
   * Applies operations in order, each atomically. Returns one outcome for each, in order. Returns a promise
   * only if something has to be awaited. A store may know some outcomes before others, such as those of one
   * of its servers. It may then pass each to `settle`, with the operation's index, as soon as it is known.
   */
  apply(
    operations: readonly Operation[],
    settle?: (index: number, outcome: Outcome) => void,
  ): MaybePromise<readonly Outcome[]>
  /**
   * How operations of concurrent callers are batched. Default: each is sent alone, which suits a store that
   * returns no promises.
   */
  readonly batching?: Batching
  /**
   * How long a limiter without the option `timeout` waits for an outcome, in whole milliseconds, at most a
   * minute. Set it if an operation takes long, such as one in a distant store. Default 100.
   */
  readonly defaultTimeoutMs?: number
  /**
   * Returns the server that holds a key now, such as `'10.0.0.7:6379'`, or `undefined` while that is not
   * known. With it, each server of a store has its own circuit breaker, so a server that is down does not
   * block calls to the others. Called for every key of every call, so it must be fast. Must not throw.
   */
  serverOf?(key: string): string | undefined
  /**
   * Where the states are. Lets a limiter without a name detect another that uses the same keys. A wrapper
   * that changes the keys must replace it.
   */
  readonly origin?: StoreOrigin
  /**
   * Small documents that processes share. `sharedSettings` requires it. With it, the dashboard adds up the
   * figures of all processes.
   */
  readonly documents?: Documents
  /**
   * Calls `listener`, which must not throw, whenever the store detects that live state was lost (eviction,
   * flush, restart). Returns a function that unsubscribes.
   */
  onLimitsLost?(listener: (error: StoreError) => void): () => void
  /** Releases what the store itself opened (timers, leases), never the user's client. */
  close?(): Promise<void>
}
