/** The part of the past arrivals that is left after a move. */
const DECAY = 0.8

/** Divides requests by rank. Those at or above the threshold pass, and those below are denied. */
export class RankThreshold {
  /** Requests below it are denied. With a fraction, that part of the rank's requests is also denied. */
  #threshold = 0
  /** Arrivals by rank. Older ones count less. */
  readonly #arrivals: Float64Array
  readonly #canSplit: (rank: number) => boolean

  /** A rank that cannot be split passes as a whole, or not at all. The last one always passes. */
  constructor(ranks: number, canSplit: (rank: number) => boolean) {
    this.#arrivals = new Float64Array(ranks)
    this.#canSplit = canSplit
  }

  /**
   * Returns whether requests of this rank are denied, all or some. If so, all requests below it are denied.
   */
  isDenying(rank: number): boolean {
    return this.#threshold > rank
  }

  /** Counts a request, and returns whether it passes. `part` says where in its rank it is, from 0 to 1. */
  passes(rank: number, part: number): boolean {
    this.#arrivals[rank] = (this.#arrivals[rank] as number) + 1
    return rank + part >= this.#threshold
  }

  /**
   * Moves the threshold so that this share more of the recent arrivals would have passed. `share` may be
   * negative.
   */
  move(share: number): void {
    const arrivals = share * this.#arrivals.reduce((sum, each) => sum + each, 0)
    if (arrivals > 0) this.#fall(arrivals)
    else this.#rise(-arrivals)
    for (let rank = 0; rank < this.#arrivals.length; rank++)
      this.#arrivals[rank] = (this.#arrivals[rank] as number) * DECAY
  }

  #fall(arrivals: number): void {
    for (let left = arrivals; left > 0 && this.#threshold > 0; ) {
      const rank = Math.ceil(this.#threshold) - 1
      const ofRank = this.#arrivals[rank] as number
      const denied = (this.#threshold - rank) * ofRank
      const isPart = left < denied && this.#canSplit(rank)
      this.#threshold = isPart ? Math.max(rank, this.#threshold - left / ofRank) : rank
      left -= denied
    }
  }

  #rise(arrivals: number): void {
    for (let left = arrivals; left > 0 && this.#threshold < this.#arrivals.length - 1; ) {
      const rank = Math.floor(this.#threshold)
      const ofRank = this.#arrivals[rank] as number
      const passing = (rank + 1 - this.#threshold) * ofRank
      const isPart = left < passing
      if (isPart && !this.#canSplit(rank)) return
      this.#threshold = isPart ? Math.min(rank + 1, this.#threshold + left / ofRank) : rank + 1
      left -= passing
    }
  }
}
