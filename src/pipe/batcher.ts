import type { Channel } from '../platform.js'
import { keyCount, type Operation, type Outcome } from '../stores/operation.js'
import type { Batching, Store } from '../stores/store.js'
import { asStoreError, type StoreError } from '../stores/store-error.js'
import { afterCode, afterTurn } from '../util/defer.js'
import { lockingPicker, type Picked } from './locking-picker.js'

/** An operation on its way to a store. */
export interface PendingOperation {
  readonly operation: Operation
  /** Called once with the outcome, after the call that sent the operation has returned. */
  settle(outcome: Outcome): void
}

/** A batch that was sent. */
interface Flight {
  readonly sentAtMs: number
  /** Whether it delays others: it has no outcome yet, and has not taken longer than the stall timeout. */
  isInFlight: boolean
  /** Whether any of its operations has an outcome. */
  isAnswered: boolean
}

/** Fewer operations than this are not split into several batches. */
const MIN_SPLIT = 16

export interface BatcherOptions {
  /** The store's name in errors and messages. Without it, `apply` must reject with a `StoreError`. */
  readonly store?: string
  /** The channel to which each batch is published when it ends. */
  readonly channel?: Channel
}

/**
 * Takes operations, each with a callback, and applies them in batches. A promise for each operation would
 * cost as much as sending it. Operations that arrive in one turn of the event loop, or while `maxInFlight`
 * batches are in flight, share a batch of at most `maxKeys` keys, a limit that each store sets. If no batch
 * is in flight, one leaves as soon as the current code has run, so a lone caller is not delayed. Many
 * waiting operations are split evenly over the batches that may leave, so that this process and the server
 * work at the same time.
 *
 * A batch is in flight until any of its operations has an outcome. If part of a store hangs (one node of a
 * cluster), other operations and later batches still complete. Nothing is ever sent twice.
 */
export class Batcher {
  /** The store's: for Redis, `applyBy` and then `runBatch`; for memcached, `runByKey`; for SQL, `sqlStore`. */
  readonly #apply: Store['apply']
  readonly #batching: Batching
  readonly #options: BatcherOptions
  readonly #maxPending: number
  readonly #locking: ReturnType<typeof lockingPicker<PendingOperation>> | undefined
  #waiting: PendingOperation[] = []
  readonly #pending: Flight[] = [] // the oldest first
  #inFlight = 0 // pending batches that have not stalled
  #isScheduled = false
  #isFull = false // no batch may leave until one in flight gets its reply or stalls
  #isWatching = false

  constructor(apply: Store['apply'], batching: Batching, options: BatcherOptions = {}) {
    this.#apply = apply
    this.#batching = batching
    this.#options = options
    this.#maxPending = batching.maxPending ?? Number.POSITIVE_INFINITY
    this.#locking = batching.locksKeys ? lockingPicker(batching.maxKeys) : undefined
  }

  /** Queues an operation, which is settled later. So this returns no outcome. */
  send(item: PendingOperation): undefined {
    this.#waiting.push(item)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isFull) return
    this.#isFull = this.#inFlight >= this.#batching.maxInFlight || this.#pending.length >= this.#maxPending
    if (this.#isFull) {
      this.#watch()
      return
    }
    this.#isScheduled = true
    if (this.#inFlight === 0) afterCode(this.#flush)
    else afterTurn(this.#flush)
  }

  readonly #flush = (): void => {
    this.#isScheduled = false
    const { maxInFlight, maxKeys, onePerTurn } = this.#batching
    let room = Math.min(maxInFlight - this.#inFlight, this.#maxPending - this.#pending.length)
    const maxItems = Math.max(MIN_SPLIT, Math.ceil(this.#waiting.length / Math.max(1, room)))
    if (onePerTurn) room = Math.min(room, 1)
    for (; room > 0 && this.#waiting.length > 0; room--) {
      let picked: Picked<PendingOperation> = [this.#waiting, []]
      if (this.#locking !== undefined) picked = this.#locking.pick(this.#waiting, maxItems)
      else if (this.#waiting.length > 1) picked = pickFirst(this.#waiting, maxItems, maxKeys)
      const [batch, rest] = picked
      if (batch.length === 0) return // every waiting operation needs a key that a batch in flight has locked
      this.#waiting = rest
      this.#deliver(batch)
    }
    if (this.#waiting.length > 0) this.#schedule()
  }

  /** Schedules a batch once the oldest one in flight has stalled. */
  #watch(): void {
    const oldest = this.#pending.find(({ isInFlight }) => isInFlight)
    if (this.#isWatching || oldest === undefined) return
    this.#isWatching = true
    const stall = () => {
      this.#isWatching = false
      this.#makeRoom(oldest)
    }
    const { stallTimeoutMs = 50 } = this.#batching
    setTimeout(stall, Math.max(1, oldest.sentAtMs + stallTimeoutMs - performance.now()))
  }

  /**
   * Records that a batch has an outcome, has stalled or has released its keys, and schedules the next one.
   */
  #makeRoom(flight: Flight, isAnswered = flight.isAnswered): void {
    if (flight.isInFlight) this.#inFlight--
    flight.isInFlight = false
    if (isAnswered && !flight.isAnswered) this.#pending.splice(this.#pending.indexOf(flight), 1)
    flight.isAnswered = isAnswered
    this.#isFull = false
    if (this.#waiting.length > 0) this.#schedule()
  }

  async #deliver(batch: readonly PendingOperation[]): Promise<void> {
    const flight: Flight = { sentAtMs: performance.now(), isInFlight: true, isAnswered: false }
    this.#pending.push(flight)
    this.#inFlight++
    const open: (PendingOperation | undefined)[] = []
    const operations: Operation[] = []
    for (const item of batch) {
      open.push(item)
      operations.push(item.operation)
    }
    const settleOne = (index: number, outcome: Outcome) => {
      const item = open[index]
      if (item === undefined) return
      open[index] = undefined
      item.settle(outcome)
      if (!flight.isAnswered) this.#makeRoom(flight, true)
    }
    const { store, channel } = this.#options
    try {
      let index = 0
      for (const outcome of await this.#apply(operations, settleOne)) settleOne(index++, outcome)
    } catch (cause) {
      const error = store === undefined ? (cause as StoreError) : asStoreError(store, cause)
      for (let i = 0; i < batch.length; i++) settleOne(i, error)
    } finally {
      this.#locking?.release(batch)
      if (this.#locking !== undefined || !flight.isAnswered) this.#makeRoom(flight, true)
    }
    if (!channel?.hasSubscribers) return
    const durationMs = performance.now() - flight.sentAtMs
    channel.publish({ type: 'batch', store, size: batch.length, durationMs })
  }
}

/** Picks the next batch: at most `maxItems` operations of at most `maxKeys` keys, but at least one. */
function pickFirst(waiting: PendingOperation[], maxItems: number, maxKeys: number): Picked<PendingOperation> {
  let end = 0
  let keys = 0
  for (const { operation } of waiting) {
    keys += keyCount(operation)
    if (end > 0 && (end === maxItems || keys > maxKeys)) break
    end++
  }
  return end === waiting.length ? [waiting, []] : [waiting.slice(0, end), waiting.slice(end)]
}
