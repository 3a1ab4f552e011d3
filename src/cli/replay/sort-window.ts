/** Requests are sorted by their times if they are logged at most this much late. */
export const MAX_LATE_MS = 3_600_000
/** How many requests wait for earlier ones, at most. */
const MAX_WAITING = 2 ** 20

type OnRequest = (timeMs: number, client: number) => void

/**
 * Passes requests on in the order of their times, as far as its bound allows. Those in order wait in a queue,
 * which costs next to nothing; only those that come late are sorted. Memory: 12 bytes for each that waits.
 */
export class SortWindow {
  readonly #onRequest: OnRequest
  readonly #queue = new RequestQueue()
  readonly #late = new RequestHeap()

  constructor(onRequest: OnRequest) {
    this.#onRequest = onRequest
  }

  add(timeMs: number, client: number): void {
    if (timeMs >= this.#queue.lastMs) this.#queue.add(timeMs, client)
    else this.#late.add(timeMs, client)
    if (this.#queue.size + this.#late.size > MAX_WAITING) this.#passFirst()
  }

  /** Passes the requests on that are not later than a time; all for `Infinity`. */
  release(untilMs: number): void {
    while (this.#queue.size + this.#late.size > 0) {
      if (Math.min(this.#queue.firstMs, this.#late.firstMs) > untilMs) return
      this.#passFirst()
    }
  }

  #passFirst(): void {
    const from = this.#late.firstMs < this.#queue.firstMs ? this.#late : this.#queue
    const timeMs = from.firstMs
    this.#onRequest(timeMs, from.removeFirst())
  }
}

/** Requests, each not earlier than the one before, in a ring. */
class RequestQueue {
  size = 0
  lastMs = Number.NEGATIVE_INFINITY
  /** `Infinity` if it is empty. */
  firstMs = Number.POSITIVE_INFINITY
  #times = new Float64Array(1024)
  #clients = new Int32Array(1024)
  #first = 0

  add(timeMs: number, client: number): void {
    if (this.size === this.#times.length) this.#grow()
    const at = (this.#first + this.size) & (this.#times.length - 1)
    this.#times[at] = timeMs
    this.#clients[at] = client
    this.lastMs = timeMs
    if (this.size++ === 0) this.firstMs = timeMs
  }

  /** Returns the client of the first request. */
  removeFirst(): number {
    const client = this.#clients[this.#first] ?? 0
    this.#first = (this.#first + 1) & (this.#times.length - 1)
    this.size--
    this.firstMs = this.size === 0 ? Number.POSITIVE_INFINITY : (this.#times[this.#first] ?? 0)
    return client
  }

  #grow(): void {
    const length = 2 * this.#times.length
    const [times, clients] = [new Float64Array(length), new Int32Array(length)]
    const rest = this.#times.length - this.#first
    for (const [old, grown] of [
      [this.#times, times],
      [this.#clients, clients],
    ] as const) {
      grown.set(old.subarray(this.#first))
      grown.set(old.subarray(0, this.#first), rest)
    }
    this.#times = times
    this.#clients = clients
    this.#first = 0
  }
}

/** Requests in any order, in a binary heap. */
class RequestHeap {
  readonly #times: number[] = []
  readonly #clients: number[] = []

  get size(): number {
    return this.#times.length
  }

  /** `Infinity` if it is empty. */
  get firstMs(): number {
    return this.#times[0] ?? Number.POSITIVE_INFINITY
  }

  add(timeMs: number, client: number): void {
    this.#times.push(timeMs)
    this.#clients.push(client)
    this.#rise(this.#times.length - 1, timeMs, client)
  }

  /** Returns the client of the first request. */
  removeFirst(): number {
    const client = this.#clients[0] ?? 0
    const [timeMs = 0, last = 0] = [this.#times.pop(), this.#clients.pop()]
    if (this.#times.length > 0) this.#sink(timeMs, last)
    return client
  }

  #rise(from: number, timeMs: number, client: number): void {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (this.#timeAt(parent) <= timeMs) break
      this.#move(parent, at)
      at = parent
    }
    this.#times[at] = timeMs
    this.#clients[at] = client
  }

  #sink(timeMs: number, client: number): void {
    let at = 0
    for (let child = 1; child < this.#times.length; child = 2 * at + 1) {
      if (this.#timeAt(child + 1) < this.#timeAt(child)) child++
      if (timeMs <= this.#timeAt(child)) break
      this.#move(child, at)
      at = child
    }
    this.#times[at] = timeMs
    this.#clients[at] = client
  }

  #timeAt(at: number): number {
    return this.#times[at] ?? Number.POSITIVE_INFINITY
  }

  #move(from: number, to: number): void {
    this.#times[to] = this.#times[from] ?? 0
    this.#clients[to] = this.#clients[from] ?? 0
  }
}
