import type { Decision, PartDecision } from '../../limiter/decision.js'
import type { NamedPart } from '../../limiter/receipt.js'
import { SharedPlaces } from '../../util/places.js'
import { giveTurnsAfter, insert, remove, retry, waitFor } from './wait-queue.js'
import { Queue, type Waiter } from './waiter.js'

/** The most waiters of a limiter at a time. Each takes 2 to 6 KB of heap. */
const MAX_WAITERS = 10_000

/** Creates the queues of a limiter: one for each key that a charge waits for. */
export function createWaitQueues() {
  const queues = new Map<string, Queue>()
  const places = new SharedPlaces(MAX_WAITERS)

  /**
   * Returns the queue of another of a waiter's keys, if an earlier waiter is in it, or is charging that key.
   */
  function queueAhead(waiter: Waiter): Queue | undefined {
    if (queues.size === 0) return undefined
    for (const { key, cost } of waiter.parts) {
      const queue = cost > 0 ? queues.get(key) : undefined
      if (queue === undefined || queue === waiter.queue) continue
      if (queue.outsiders > 0 || (queue.first !== undefined && queue.first.arrival < waiter.arrival))
        return queue
    }
    return undefined
  }

  function open(key: string): Queue {
    const queue = queues.get(key) ?? new Queue(key)
    queues.set(key, queue)
    return queue
  }

  function closeIfEmpty({ first, outsiders, key }: Queue): void {
    if (first === undefined && outsiders === 0) queues.delete(key)
  }

  /** Lets others queue behind a waiter, for all its keys, until its charge is over. */
  function startCharge(waiter: Waiter): void {
    const charged = waiter.parts.filter(({ cost, key }) => cost > 0 && key !== waiter.queue?.key)
    waiter.otherQueues = charged.map(({ key }) => open(key))
    for (const queue of waiter.otherQueues) queue.outsiders += 1
  }

  function endCharge(waiter: Waiter): void {
    for (const queue of waiter.otherQueues) {
      queue.outsiders -= 1
      giveTurnsAfter(queue, waiter)
      closeIfEmpty(queue)
    }
    waiter.otherQueues = []
  }

  /** Lets a waiter wait for its turn in a queue. Its turn in another one passes to the next. */
  function move(waiter: Waiter, queue: Queue): void {
    const isMoved = waiter.queue !== queue
    if (isMoved) leave(waiter)
    waiter.hasTurn = false
    waiter.figures = []
    waiter.turn = new Promise((resolve) => {
      waiter.wake = resolve
    })
    if (!isMoved) return
    insert(queue, waiter)
    places.take(clientOf(waiter))
  }

  /** Lets a waiter whose charge was denied wait for the limit that denied it for longest. */
  function retreat(waiter: Waiter, { parts, retryAfterMs }: Decision): void {
    const i = parts.findIndex((part) => part.retryAfterMs === retryAfterMs)
    const { key } = waiter.parts[i] as NamedPart
    const figures = parts[i] as PartDecision
    const queue = open(key)
    move(waiter, queue)
    if (queue.first === waiter) waitFor(queue, figures, retryAfterMs)
  }

  /** Removes a waiter from its queue, if it is in one, so that those behind it move up. */
  function leave(waiter: Waiter): void {
    const { queue } = waiter
    if (queue === undefined) return
    remove(queue, waiter)
    places.giveBack(clientOf(waiter))
    closeIfEmpty(queue)
  }

  /** Gives their turn to the first in the queues of keys whose units were refunded or forgotten. */
  function retryKeys(keys: readonly { readonly key: string }[]): void {
    if (queues.size === 0) return
    for (const { key } of keys) {
      const queue = queues.get(key)
      if (queue !== undefined) retry(queue)
    }
  }

  /** Returns how many times units of a waiter's keys came back. It grows while the waiter charges. */
  function returnsOf({ queue, otherQueues }: Waiter): number {
    return otherQueues.reduce((sum, { returns }) => sum + returns, queue?.returns ?? 0)
  }

  /** Ends the wait of all. */
  function wakeAll(): void {
    for (const { first } of queues.values())
      for (let waiter = first; waiter !== undefined; waiter = waiter.later) waiter.wake()
  }

  return {
    queueAhead,
    startCharge,
    endCharge,
    move,
    retreat,
    leave,
    retryKeys,
    returnsOf,
    wakeAll,
    /** Returns whether a waiter may wait. Those that charge the same keys share places as one client. */
    hasPlaceFor: (waiter: Waiter) => waiter.queue !== undefined || places.hasPlaceFor(clientOf(waiter)),
  }
}

/** Returns what identifies a waiter's client: all its keys, since several clients may share one of them. */
function clientOf({ parts }: Waiter): string {
  return parts.map(({ key }) => key).join(' ')
}
