/**
 * A backend of workers with one queue, which takes the first request first. It only computes when requests
 * will be finished: a late timer delays a response, and does not make the backend slower.
 */
export class Workers {
  readonly #freeAtMs: number[]

  constructor(count: number) {
    this.#freeAtMs = Array.from({ length: count }, () => 0)
  }

  /** Gives a request to the first `count` workers. Returns when it will be finished. */
  finishAtMs(nowMs: number, serviceMs: number, count = this.#freeAtMs.length): number {
    let first = 0
    for (let i = 1; i < count; i++) if (this.#freeAt(i) < this.#freeAt(first)) first = i
    const atMs = Math.max(nowMs, this.#freeAt(first)) + serviceMs
    this.#freeAtMs[first] = atMs
    return atMs
  }

  #freeAt(index: number): number {
    return this.#freeAtMs[index] ?? Number.POSITIVE_INFINITY
  }
}
