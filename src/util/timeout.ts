import { isIsolate } from '../platform.js'
import { inBackground } from './background-timer.js'
import { afterTurn } from './defer.js'

/** The rejection of work that has not ended in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'

  constructor(timeoutMs: number) {
    super(`no reply within ${timeoutMs} ms`)
  }
}

/** A deadline. It may be part of another object, such as of what it limits. */
export interface Deadline {
  dueAtMs: number
  onExpired(): void
  /** Its neighbours among the running ones; `undefined` once it is stopped. */
  earlier: Deadline | undefined
  later: Deadline | undefined
}

export function createDeadline(onExpired: () => void): Deadline {
  return { dueAtMs: 0, onExpired, earlier: undefined, later: undefined }
}

/** Deadlines with the same time-out. */
export interface Deadlines {
  /**
   * Calls `onExpired` when the time-out has passed since `sinceMs`, unless stopped. Reads replies that have
   * arrived by then first.
   */
  start(deadline: Deadline, sinceMs?: number): void
  /** Returns false if the deadline has expired before. */
  stop(deadline: Deadline): boolean
  /** Resolves once no deadline is running. */
  idle(): Promise<void>
}

/** Creates deadlines. One timer serves them all, except on isolates, where a timer belongs to a request. */
export function createDeadlines(timeoutMs: number): Deadlines {
  return isIsolate() ? new LoneDeadlines(timeoutMs) : new SharedDeadlines(timeoutMs)
}

/**
 * Deadlines that one timer serves. All have the same time-out, so the one that was started first is due
 * first. The timer does not keep the process running.
 *
 * They are a linked list. A `Set` replaces its table as it grows and shrinks, and V8 keeps the old tables,
 * with all that they hold, until the next full collection.
 */
class SharedDeadlines implements Deadlines {
  readonly #timeoutMs: number
  #first: Deadline | undefined
  #last: Deadline | undefined
  #timer: { readonly startedBy: typeof setTimeout } | undefined
  #whenIdle: (() => void)[] = []

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  start(deadline: Deadline, sinceMs = performance.now()): void {
    const earlier = this.#last
    deadline.dueAtMs = sinceMs + this.#timeoutMs
    deadline.earlier = earlier
    if (earlier === undefined) this.#first = deadline
    else earlier.later = deadline
    this.#last = deadline
    // A timer that was started before a test faked timers, or before it restored them, may never fire.
    if (this.#timer?.startedBy !== setTimeout) this.#startTimer(this.#timeoutMs)
  }

  stop(deadline: Deadline): boolean {
    const { earlier, later } = deadline
    if (earlier === undefined && this.#first !== deadline) return false
    if (earlier === undefined) this.#first = later
    else earlier.later = later
    if (later === undefined) this.#last = earlier
    else later.earlier = earlier
    deadline.earlier = undefined
    deadline.later = undefined
    if (this.#first === undefined) for (const resolve of this.#whenIdle.splice(0)) resolve()
    return true
  }

  async idle(): Promise<void> {
    if (this.#first !== undefined) await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
  }

  #startTimer(delayMs: number): void {
    const timer = { startedBy: setTimeout }
    this.#timer = timer
    const expire = () => this.#timer === timer && this.#expireDue()
    inBackground(setTimeout(() => afterTurn(expire), Math.max(1, delayMs)))
  }

  #expireDue(): void {
    const nowMs = performance.now()
    try {
      for (let first = this.#first; first !== undefined && first.dueAtMs <= nowMs; first = this.#first) {
        this.stop(first)
        first.onExpired() // may start a deadline
      }
    } finally {
      this.#timer = undefined
      if (this.#first !== undefined) this.#startTimer(this.#first.dueAtMs - nowMs)
    }
  }
}

/** Deadlines that each have a timer, which belongs to the request that started it. */
class LoneDeadlines implements Deadlines {
  readonly #timeoutMs: number
  /** Weak, because a deadline whose request has ended neither expires nor is stopped. */
  readonly #timers = new WeakMap<Deadline, ReturnType<typeof setTimeout>>()

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  start(deadline: Deadline, sinceMs = performance.now()): void {
    deadline.dueAtMs = sinceMs + this.#timeoutMs
    const expire = () => this.stop(deadline) && deadline.onExpired()
    try {
      this.#timers.set(deadline, setTimeout(expire, Math.max(1, deadline.dueAtMs - performance.now())))
    } catch {
      // While modules load, a Worker has no timers. It also cannot call a store then.
    }
  }

  stop(deadline: Deadline): boolean {
    clearTimeout(this.#timers.get(deadline))
    return this.#timers.delete(deadline)
  }

  async idle(): Promise<void> {} // the remaining deadlines belong to other requests
}

/** Creates a function that rejects with `TimeoutError` when a promise takes longer than `timeoutMs`. */
export function timeout(timeoutMs: number): <T>(work: Promise<T>) => Promise<T> {
  const deadlines = createDeadlines(timeoutMs)
  return <T>(work: Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      const deadline = createDeadline(() => reject(new TimeoutError(timeoutMs)))
      deadlines.start(deadline)
      const stopAnd =
        <V>(settle: (value: V) => void) =>
        (value: V) => {
          deadlines.stop(deadline)
          settle(value)
        }
      work.then(stopAnd(resolve), stopAnd(reject))
    })
}
