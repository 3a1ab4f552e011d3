import { SharedPlaces } from '../../util/places.js'
import type { Decision, PartDecision } from '../decision.js'
import type { NamedPart } from '../receipt.js'
import { Queue, type Waiter } from './wait-queue.js'

/** The most waiters of a limiter at a time. Each takes 2 to 6 KB of heap. */
const MAX_WAITERS = 10_000

/** A queue that a waiter must wait in, and the earliest time at which its wait can end. */
interface KeyWait {
  readonly queue: Queue
  readonly untilMs: number
}

/** The queues of a limiter: one for each key that waiters charge or wait for. */
export class WaitQueues {
  readonly #queues = new Map<string, Queue>()
  readonly #places = new SharedPlaces(MAX_WAITERS)

  /** Returns whether there is a place for a waiter. Waiters that charge the same keys are one client. */
  hasPlaceFor({ hasPlace, client }: Waiter): boolean {
    return hasPlace || this.#places.hasPlaceFor(client)
  }

  /**
   * Returns the longest wait that a waiter must begin before it charges, in a queue that is asleep if there
   * is one. Returns `undefined` if it may charge now.
   */
  waitOf(waiter: Waiter): KeyWait | undefined {
    const waits = waiter.parts.flatMap(({ key, cost }): KeyWait[] => {
      const queue = cost > 0 ? this.#queues.get(key) : undefined
      const untilMs = queue?.waitsUntilMs(waiter)
      return queue === undefined || untilMs === undefined ? [] : [{ queue, untilMs }]
    })
    const byTime = waits.sort((one, other) => other.untilMs - one.untilMs)
    return byTime.find(({ queue }) => queue.isAsleep) ?? byTime[0]
  }

  /**
   * Lets a waiter wait. If `queue` is asleep, it waits only there, so that it does not hold up other queues.
   * Otherwise, only charges under way are ahead of it, and it enters the queues of all its keys.
   */
  enter(waiter: Waiter, queue?: Queue): undefined {
    waiter.turn = new Promise((resolve) => {
      waiter.wake = resolve
    })
    if (queue?.isAsleep) this.#leaveQueues(waiter, queue)
    for (const each of queue?.isAsleep ? [queue] : this.#queuesOf(waiter)) {
      if (waiter.queues.has(each)) continue
      each.insert(waiter)
      each.update()
    }
    if (!waiter.hasPlace) this.#places.take(waiter.client)
    waiter.hasPlace = true
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

  /** Removes a waiter whose wait is over. */
  leave(waiter: Waiter): void {
    this.#leaveQueues(waiter)
    if (waiter.hasPlace) this.#places.giveBack(waiter.client)
  }

  #leaveQueues(waiter: Waiter, except?: Queue): void {
    for (const queue of waiter.queues) {
      if (queue === except) continue
      queue.remove(waiter)
      this.#update(queue)
    }
  }

  /** Begins the charge of a waiter. Later charges of its keys may have to wait for the outcome. */
  startCharge(waiter: Waiter): void {
    for (const queue of this.#queuesOf(waiter)) queue.start(waiter)
    this.#leaveQueues(waiter)
  }

  /** Ends a charge with the figures of its parts; without any, they are unknown. */
  endCharge(waiter: Waiter, figures: readonly PartDecision[]): void {
    for (const [i, { key, cost }] of waiter.parts.entries()) {
      const queue = cost > 0 ? this.#queues.get(key) : undefined
      queue?.end(waiter, figures[i])
      if (queue !== undefined) this.#update(queue)
    }
  }

  #update(queue: Queue): void {
    queue.update()
    if (queue.isEmpty) this.#queues.delete(queue.key)
  }

  /** Returns the earliest time at which a denied charge may be allowed. */
  deniedUntilMs(parts: readonly NamedPart[], decision: Decision): number {
    const times = decision.parts.map(({ allowed, retryAfterMs }, i) => {
      const queue = allowed ? undefined : this.#queues.get(parts[i]?.key ?? '')
      return queue?.allowedAtMs(retryAfterMs) ?? 0
    })
    return Math.max(...times)
  }

  /** Lets the first waiter of each of these keys try again, because units came back. */
  retry(keys: readonly { readonly key: string }[]): void {
    for (const { key } of keys) this.#queues.get(key)?.retry()
  }

  /** Wakes all waiters, because their wait has ended. */
  wakeAll(): void {
    for (const { waiters } of this.#queues.values()) for (const { wake } of waiters) wake()
  }
}
