/** This share of the requests may be left out if they take this many times as long as the others. */
const LEFT_OUT = 0.1
const TIMES_AS_LONG = 10

/**
 * The first requests of an epoch. They are its sample once all of them have ended: a sample taken earlier
 * would have only the shortest ones. A few that take much longer than the others are left out, because they
 * must be something else, such as long polls.
 */
export class FirstRequests {
  #wanted: number
  #begun = 0
  #ended = 0
  #endedMs = 0
  #lastBegunAtMs = 0

  constructor(wanted: number) {
    this.#wanted = wanted
  }

  get begun(): number {
    return this.#begun
  }

  /** Returns whether enough requests have begun, and all of them have ended. */
  areOver(nowMs: number): boolean {
    if (this.#begun < this.#wanted) return false
    if (this.#ended >= this.#begun) return true
    if (this.#ended < (1 - LEFT_OUT) * this.#begun) return false
    return nowMs - this.#lastBegunAtMs > TIMES_AS_LONG * (this.#endedMs / this.#ended)
  }

  /** Counts a request that begins. Returns false if enough have begun. */
  begin(nowMs: number): boolean {
    if (this.#begun >= this.#wanted) return false
    this.#begun++
    this.#lastBegunAtMs = nowMs
    return true
  }

  /** Counts the end of a request for which `begin` returned true. */
  end(latencyMs: number): void {
    this.#ended++
    this.#endedMs += latencyMs
  }

  /** Lets this many more begin. */
  addWanted(more: number): void {
    this.#wanted += more
  }

  /** Lets no more begin. */
  close(): void {
    this.#wanted = this.#begun
  }
}
