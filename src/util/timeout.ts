/** The rejection of work that has not ended in time. */
export class TimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`)
  }
}

/** The time that a piece of work has left. */
export interface Deadline {
  readonly dueAtMs: number
  readonly onExpired: () => void
}

/**
 * Deadlines that all come after the same time, so that the next one is the first that was started. One timer
 * serves all of them; it does not keep the process running.
 */
export class Deadlines {
  readonly #timeoutMs: number
  readonly #running = new Set<Deadline>() // in the order of their ends
  #hasTimer = false
  #whenIdle: (() => void)[] = []

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** Calls `onExpired` after the time, unless stopped. Results that arrived by then are read first. */
  start(onExpired: () => void): Deadline {
    const deadline = { dueAtMs: performance.now() + this.#timeoutMs, onExpired }
    this.#running.add(deadline)
    if (!this.#hasTimer) this.#startTimer(this.#timeoutMs)
    return deadline
  }

  /** Returns false if the deadline has expired before. */
  stop(deadline: Deadline): boolean {
    const isRunning = this.#running.delete(deadline)
    if (this.#running.size === 0 && this.#whenIdle.length > 0)
      for (const resolve of this.#whenIdle.splice(0)) resolve()
    return isRunning
  }

  /** Returns a promise of the result of `work`, which rejects with `TimeoutError` when it takes longer. */
  limit<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const deadline = this.start(() => reject(new TimeoutError(this.#timeoutMs)))
      const end = () => this.stop(deadline)
      work.finally(end).then(resolve, reject)
    })
  }

  /** Resolves once no deadline is running. */
  async idle(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
  }

  #startTimer(delayMs: number): void {
    this.#hasTimer = true
    setTimeout(() => setImmediate(() => this.#expireDue()), Math.max(1, delayMs)).unref()
  }

  #expireDue(): void {
    this.#hasTimer = false
    const nowMs = performance.now()
    for (const deadline of this.#running) {
      if (deadline.dueAtMs > nowMs) {
        this.#startTimer(deadline.dueAtMs - nowMs)
        return
      }
      this.stop(deadline)
      deadline.onExpired()
    }
  }
}

/** Creates a function that rejects with `TimeoutError` when a promise takes longer than `timeoutMs`. */
export function timeout(timeoutMs: number): <T>(work: Promise<T>) => Promise<T> {
  const deadlines = new Deadlines(timeoutMs)
  return (work) => deadlines.limit(work)
}
