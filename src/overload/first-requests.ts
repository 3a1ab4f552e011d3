/**
 * The first requests of an epoch, which are its sample once all of them have ended. Those that end before others
 * are the shortest, so a sample of what has ended by some time would say that requests are faster than they are.
 */
export class FirstRequests {
  #wanted: number
  #begun = 0
  #ended = 0

  constructor(wanted: number) {
    this.#wanted = wanted
  }

  get begun(): number {
    return this.#begun
  }

  /** Whether as many as are wanted have begun, and all of them have ended. */
  get areOver(): boolean {
    return this.#begun >= this.#wanted && this.#ended >= this.#begun
  }

  /** Counts a request that begins. Returns false if enough have begun. */
  begin(): boolean {
    if (this.#begun >= this.#wanted) return false
    this.#begun++
    return true
  }

  /** Counts a request that ended for which `begin` returned true. */
  end(): void {
    this.#ended++
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
