import { SharedPlaces } from '../../util/places.js'
import type { PartDecision } from '../decision.js'
import { type KeyWait, Queue, type Waiter } from './wait-queue.js'

/** The most waiters of a limiter at a time. Each takes 2 to 6 KB of heap. */
const MAX_WAITERS = 10_000

/** The queues of a limiter: one for each key that waiters charge or wait for. */
export class WaitQueues {
  readonly #queues = new Map<string, Queue>()
  readonly #places = new SharedPlaces(MAX_WAITERS)

  /** Returns whether there is a place for a waiter. Waiters that charge the same keys are one client. */
  hasPlaceFor({ placeOf, client }: Waiter): boolean {
    return placeOf !== undefined || this.#places.hasPlaceFor(client)
  }

  /**
   * Returns the longest wait that a waiter must begin before it charges; `undefined` if it may charge now.
   * When its turn comes at a limit that it has slept for, it may, even if another limit is exhausted: the
   * charge then tells whether it may hold its units.
   */
  waitOf(waiter: Waiter): KeyWait | undefined {
    let longest: KeyWait | undefined
    for (const { key, cost } of waiter.parts) {
      const wait = cost > 0 ? this.#queues.get(key)?.waitOf(waiter) : undefined
      if (wait !== undefined && wait.asleepUntilMs >= (longest?.asleepUntilMs ?? 0)) longest = wait
    }
    const hasTurn = (queue: Queue) => waiter.slept.has(queue.key) && queue.waitOf(waiter) === undefined
    return longest?.isNext && [...waiter.queues].some(hasTurn) ? undefined : longest
  }

  /**
   * Lets a waiter wait. If the queue of `wait` is asleep, it waits only there. It does not delay other
   * queues, except by the units that it holds of limits that it has slept for. Otherwise, only charges under
   * way are ahead of it, and it enters the queues of all its keys.
   */
  enter(waiter: Waiter, wait: KeyWait | undefined): undefined {
    if (waiter.placeOf === undefined) this.#places.take(waiter.client)
    waiter.placeOf ??= waiter.client
    for (const queue of this.#queuesOf(waiter)) {
      const isEntered = !wait?.asleepUntilMs || queue === wait.queue
      if (isEntered) queue.insert(waiter)
      else queue.remove(waiter)
      if (!isEntered && wait.isNext && waiter.slept.has(queue.key))
        queue.holdUntil(wait.asleepUntilMs, waiter)
      queue.update()
    }
    if (wait?.asleepUntilMs) waiter.slept.add(wait.queue.key)
    waiter.turn = new Promise((resolve) => {
      waiter.wake = resolve
    })
    if (wait === undefined) waiter.wake()
  }

  /** Returns the queues of the keys that a waiter charges. */
  #queuesOf({ parts }: Waiter): readonly Queue[] {
    return parts
      .filter(({ cost }) => cost > 0)
      .map((part) => {
        const queue = this.#queues.get(part.key) ?? new Queue(part)
        this.#queues.set(part.key, queue)
        return queue
      })
  }

  /** Releases the units that a waiter holds, before it retries. */
  release({ holds }: Waiter): void {
    for (const [queue, units] of holds) queue.release(units)
    holds.clear()
  }

  /** Lets others go first while a waiter's options are read, which may take long. */
  stepAside(waiter: Waiter): void {
    const queues = new Set([...waiter.queues, ...waiter.holds.keys()])
    this.release(waiter)
    for (const queue of queues) {
      queue.remove(waiter)
      queue.update()
    }
  }

  /** Removes a waiter from its queues. */
  leave(waiter: Waiter): void {
    this.release(waiter)
    for (const queue of new Set([...waiter.queues, ...this.#queuesOf(waiter)])) {
      queue.remove(waiter)
      queue.update()
      if (queue.isEmpty) this.#queues.delete(queue.key)
    }
  }

  /** Removes a waiter whose wait is over. */
  end(waiter: Waiter): void {
    this.leave(waiter)
    if (waiter.placeOf !== undefined) this.#places.giveBack(waiter.placeOf)
  }

  /** Begins the charge of a waiter. Later charges of its keys may have to wait for the outcome. */
  startCharge(waiter: Waiter): void {
    for (const queue of this.#queuesOf(waiter)) queue.start(waiter)
    this.leave(waiter)
  }

  /** Ends a charge with the figures of its parts; without any, they are unknown. */
  endCharge(waiter: Waiter, figures: readonly PartDecision[]): void {
    for (const [i, { key, cost }] of waiter.parts.entries())
      if (cost > 0) this.#queues.get(key)?.end(waiter, figures[i])
  }

  /** Lets the first waiter of each of these keys try again, because units came back. */
  retry(keys: readonly { readonly key: string }[]): void {
    for (const { key } of keys) this.#queues.get(key)?.retry()
  }

  /** Wakes all waiters, because the rules have changed or their wait has ended. */
  wakeAll(): void {
    for (const { waiters } of this.#queues.values()) for (const { wake } of waiters) wake()
  }
}
