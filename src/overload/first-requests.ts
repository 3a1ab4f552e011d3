/** So many of them may be left out that take this many times as long as the others. */
const LEFT_OUT = 0.1
const TIMES_AS_LONG = 10

/**
 * The first requests of an epoch, which are its sample once all of them have ended. Those that end before others
 * are the shortest, so a sample of what has ended by some time would say that requests are faster than they are.
 * The exception is a few that take so long that they must be something else, such as a long poll.
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

  /** Returns whether as many as are wanted have begun, and have ended. */
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

  /** Counts a request that ended for which `begin` returned true. */
  end(latencyMs: number): void {
    this.#ended++
    this.#endedMs += latencyMs
  }

  /** Has so many more begin. */
  addWanted(more: number): void {
    this.#wanted += more
  }

  /** Has no more begin. */
  close(): void {
    this.#wanted = this.#begun
  }
}
