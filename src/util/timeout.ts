import { inBackground } from './background-timer.js'
import { afterTurn } from './defer.js'

/** The rejection of work that has not ended in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'

  constructor(timeoutMs: number) {
    super(`no reply within ${timeoutMs} ms`)
  }
}

export interface Deadline {
  dueAtMs: number
  onExpired(): void
  /** Its neighbours among the running ones; `undefined` once it is stopped. */
  earlier: Deadline | undefined
  later: Deadline | undefined
}

/**
 * Deadlines that all come after the same time, so that the next one is the first that was started. One timer
 * serves all of them; it does not keep the process running.
 *
 * They are a linked list. A `Set` replaces its table as it grows and shrinks, and V8 keeps the old tables,
 * with all that they hold, until the next full collection.
 */
export class Deadlines {
  readonly #timeoutMs: number
  #first: Deadline | undefined
  #last: Deadline | undefined
  #timer: { readonly startedBy: typeof setTimeout } | undefined
  #whenIdle: (() => void)[] = []

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /**
   * Calls `onExpired` when the time-out has passed since `sinceMs`, unless stopped. Replies that have
   * arrived by then are read first.
   */
  start(onExpired: () => void, sinceMs = performance.now()): Deadline {
    const deadline: Deadline = { dueAtMs: 0, onExpired, earlier: undefined, later: undefined }
    this.watch(deadline, sinceMs)
    return deadline
  }

  /** Starts a deadline that is part of another object, such as of what it limits. */
  watch(deadline: Deadline, sinceMs = performance.now()): void {
    const earlier = this.#last
    deadline.dueAtMs = sinceMs + this.#timeoutMs
    deadline.earlier = earlier
    if (earlier === undefined) this.#first = deadline
    else earlier.later = deadline
    this.#last = deadline
    // A timer that was started before a test faked timers, or before it restored them, may never fire.
    if (this.#timer?.startedBy !== setTimeout) this.#startTimer(this.#timeoutMs)
  }

  /** Returns false if the deadline has expired before. */
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

  /** Returns a promise of the result of `work`, which rejects with `TimeoutError` when it takes longer. */
  limit<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const deadline = this.start(() => reject(new TimeoutError(this.#timeoutMs)))
      const stopAnd =
        <V>(settle: (value: V) => void) =>
        (value: V) => {
          this.stop(deadline)
          settle(value)
        }
      work.then(stopAnd(resolve), stopAnd(reject))
    })
  }

  /** Resolves once no deadline is running. */
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

/** Creates a function that rejects with `TimeoutError` when a promise takes longer than `timeoutMs`. */
export function timeout(timeoutMs: number): <T>(work: Promise<T>) => Promise<T> {
  const deadlines = new Deadlines(timeoutMs)
  return (work) => deadlines.limit(work)
}
