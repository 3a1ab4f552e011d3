import { afterCode, afterTurn } from '../../util/defer.js'
import { keyCount, type Operation, type Outcome } from '../operation.js'
import type { Batching, Store } from '../store.js'
import type { StoreError } from '../store-error.js'
import { lockingPicker, type Picked } from './locking-picker.js'

/** An operation on its way to a store. */
export interface Waiting {
  readonly operation: Operation
  /** Called once with the outcome, after the call that submitted the operation has returned. */
  settle(outcome: Outcome): void
}

/** A batch that was sent. */
interface Flight {
  readonly sentAtMs: number
  /** Whether it took longer than the stall timeout, so that it no longer delays others. */
  hasStalled: boolean
  isAnswered: boolean
}

/** Fewer operations than this are not split into several batches. */
const MIN_SPLIT = 16

interface BatcherOptions {
  /** Called at the end of each batch, with its size and how long it took. */
  onBatch?(size: number, durationMs: number): void
  /** Returns the outcome of all operations of a batch that failed. Default: what `apply` rejected with. */
  toStoreError?(cause: unknown): StoreError
}

/**
 * Creates a batcher: a function that takes operations, each with a callback. A promise for each operation
 * would cost as much as sending it. Operations that arrive in one turn of the event loop, or while `maxInFlight`
 * batches are in flight, share a batch of at most `maxKeys` keys, a limit that each store sets. If no batch
 * is in flight, one leaves as soon as the current code has run, so a lone caller is not delayed. Many
 * waiting operations are split evenly over the batches that may leave, so that this process and the server
 * work at the same time.
 *
 * A batch is in flight until any of its operations has an outcome. If part of a store hangs (one node of a
 * cluster), other operations and later batches still complete. Nothing is ever sent twice.
 */
export function batcher(
  apply: Store['apply'],
  batching: Batching,
  { onBatch, toStoreError }: BatcherOptions = {},
): (item: Waiting) => undefined {
  const { locksKeys = false, stallTimeoutMs = 50 } = batching
  const { maxPending = Number.POSITIVE_INFINITY } = batching
  const locking = locksKeys ? lockingPicker<Waiting>(batching.maxKeys) : undefined
  let waiting: Waiting[] = []
  const pending: Flight[] = [] // the oldest first
  let inFlight = 0 // pending batches that have not stalled
  let isScheduled = false
  let isFull = false // no batch may leave until one in flight gets its reply or stalls
  let isWatching = false

  function schedule(): void {
    if (isScheduled || isFull) return
    isFull = inFlight >= batching.maxInFlight || pending.length >= maxPending
    if (isFull) {
      watch()
      return
    }
    isScheduled = true
    if (inFlight === 0) afterCode(flush)
    else afterTurn(flush)
  }

  function flush(): void {
    isScheduled = false
    let room = Math.min(batching.maxInFlight - inFlight, maxPending - pending.length)
    const maxItems = Math.max(MIN_SPLIT, Math.ceil(waiting.length / Math.max(1, room)))
    if (batching.onePerTurn) room = Math.min(room, 1)
    for (; room > 0 && waiting.length > 0; room--) {
      let picked: Picked<Waiting> = [waiting, []]
      if (locking !== undefined) picked = locking.pick(waiting, maxItems)
      else if (waiting.length > 1) picked = pickFirst(waiting, maxItems, batching.maxKeys)
      const [batch, rest] = picked
      if (batch.length === 0) return // every waiting operation needs a key that a batch in flight has locked
      waiting = rest
      deliver(batch)
    }
    if (waiting.length > 0) schedule()
  }

  /** Schedules a batch after one in flight has made room, or released its keys. */
  function scheduleNext(): void {
    isFull = false
    if (waiting.length > 0) schedule()
  }

  /** Schedules a batch once the oldest one in flight has stalled. */
  function watch(): void {
    const oldest = pending.find(({ hasStalled }) => !hasStalled)
    if (isWatching || oldest === undefined) return
    isWatching = true
    const stall = () => {
      isWatching = false
      oldest.hasStalled = true
      if (!oldest.isAnswered) inFlight--
      scheduleNext()
    }
    setTimeout(stall, Math.max(1, oldest.sentAtMs + stallTimeoutMs - performance.now()))
  }

  function markAnswered(flight: Flight): void {
    flight.isAnswered = true
    if (!flight.hasStalled) inFlight--
    pending.splice(pending.indexOf(flight), 1)
    scheduleNext()
  }

  async function deliver(batch: readonly Waiting[]): Promise<void> {
    const flight: Flight = { sentAtMs: performance.now(), hasStalled: false, isAnswered: false }
    pending.push(flight)
    inFlight++
    const open: (Waiting | undefined)[] = []
    const operations: Operation[] = []
    for (const item of batch) {
      operations.push(item.operation)
      open.push(item)
    }
    const settleOne = (index: number, outcome: Outcome) => {
      const item = open[index]
      if (item === undefined) return
      open[index] = undefined
      item.settle(outcome)
      if (!flight.isAnswered) markAnswered(flight)
    }
    try {
      let index = 0
      for (const outcome of await apply(operations, settleOne)) settleOne(index++, outcome)
    } catch (cause) {
      const error = toStoreError === undefined ? (cause as StoreError) : toStoreError(cause)
      for (let i = 0; i < batch.length; i++) settleOne(i, error)
    } finally {
      locking?.release(batch)
      if (!flight.isAnswered) markAnswered(flight)
      if (locking !== undefined) scheduleNext() // operations that waited for its keys
    }
    onBatch?.(batch.length, performance.now() - flight.sentAtMs)
  }

  return (item) => {
    waiting.push(item)
    schedule()
  }
}

/** Picks the next batch: at most `maxItems` operations of at most `maxKeys` keys, but at least one. */
function pickFirst(waiting: Waiting[], maxItems: number, maxKeys: number): Picked<Waiting> {
  let end = 0
  let keys = 0
  for (const { operation } of waiting) {
    keys += keyCount(operation)
    if (end > 0 && (end === maxItems || keys > maxKeys)) break
    end++
  }
  return end === waiting.length ? [waiting, []] : [waiting.slice(0, end), waiting.slice(end)]
}
