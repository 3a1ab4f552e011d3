/** The latencies of a class of routes in a span of time. */
export class Sample {
  count = 0
  #sumMs = 0
  #sumOfSquares = 0

  add(latencyMs: number): void {
    this.count++
    this.#sumMs += latencyMs
    this.#sumOfSquares += latencyMs * latencyMs
  }

  addAll(other: Sample): void {
    this.count += other.count
    this.#sumMs += other.#sumMs
    this.#sumOfSquares += other.#sumOfSquares
  }

  clear(): void {
    this.count = this.#sumMs = this.#sumOfSquares = 0
  }

  /** Halves the weight of everything that was added until now. */
  halve(): void {
    this.count /= 2
    this.#sumMs /= 2
    this.#sumOfSquares /= 2
  }

  get sumMs(): number {
    return this.#sumMs
  }

  get sumOfSquares(): number {
    return this.#sumOfSquares
  }

  get meanMs(): number {
    return this.#sumMs / this.count
  }

  /** The standard error of the mean: how far it may be from the true one by chance. */
  get errorMs(): number {
    const variance = this.#sumOfSquares / this.count - this.meanMs ** 2
    return Math.sqrt(Math.max(0, variance) / this.count)
  }
}
