import { ClientNumbers } from './client-table.js'
import { CountTable } from './count-table.js'
import {
  apartFrom,
  type LargeClient,
  type LimitPairs,
  type Suggestions,
  smallestLimits,
} from './suggestions.js'

/**
 * Where a client's numbers lie: its window and the requests in it, the most requests in any window, and all.
 */
const WINDOW = 0
const COUNT = 1
const MOST = 2
const TOTAL = 3

/**
 * Counts the requests of each client in each window of a fixed length, which gives what every limit would
 * deny. Memory: four numbers for each client, and one for each client and distinct count, up to a bound.
 */
export class WindowCounts {
  readonly #windowMs: number
  readonly #startsAt: 'clock' | 'first-request'
  readonly #numbers = new ClientNumbers(4)
  readonly #windows: CountTable

  constructor(windowMs: number, startsAt: 'clock' | 'first-request', maxCounts?: number) {
    this.#windowMs = windowMs
    this.#startsAt = startsAt
    this.#windows = new CountTable(maxCounts)
  }

  /** Counts a request. `nowMs` never goes back. */
  add(id: number, nowMs: number): void {
    const page = this.#numbers.pageOf(id)
    const at = this.#numbers.offsetOf(id)
    const lastWindow = page[at + WINDOW] ?? 0
    const lastCount = page[at + COUNT] ?? 0
    const window = this.#windowAt(nowMs, lastWindow, lastCount)
    if (window !== lastWindow) this.#windows.add(id, lastCount)
    const count = window === lastWindow ? lastCount + 1 : 1
    page[at + WINDOW] = window
    page[at + COUNT] = count
    page[at + TOTAL] = (page[at + TOTAL] ?? 0) + 1
    if (count > (page[at + MOST] ?? 0)) page[at + MOST] = count
  }

  /** Returns the window of a request: the index of it, or when it began. */
  #windowAt(nowMs: number, window: number, count: number): number {
    if (this.#startsAt === 'clock') return Math.floor(nowMs / this.#windowMs)
    return count > 0 && nowMs < window + this.#windowMs ? window : nowMs
  }

  /** Returns the most requests of a client in any window. */
  mostOf(id: number): number {
    return this.#numbers.get(id, MOST)
  }

  /** Returns the smallest limits for the first `clients` clients. Ends the count. */
  suggest(clients: number): Suggestions {
    const clientsByMost = new Map<number, number>()
    for (let id = 0; id < clients; id++) {
      this.#windows.add(id, this.#numbers.get(id, COUNT))
      addTo(clientsByMost, this.mostOf(id))
    }
    const bound = apartFrom(clientsByMost)
    const all = this.#limitsBelow(Number.POSITIVE_INFINITY, clients)
    if (bound === Number.POSITIVE_INFINITY) return all
    return { ...all, apart: { ...this.#limitsBelow(bound, clients), largest: this.#largest(bound, clients) } }
  }

  /** Returns the smallest limits for the clients whose windows all have fewer requests. */
  #limitsBelow(bound: number, total: number): LimitPairs {
    const isBelow = (id: number) => this.mostOf(id) < bound
    const clientsByMost = new Map<number, number>()
    let requests = 0
    let clients = 0
    for (let id = 0; id < total; id++) {
      if (!isBelow(id)) continue
      requests += this.#numbers.get(id, TOTAL)
      clients++
      addTo(clientsByMost, this.mostOf(id))
    }
    const windowsByCount = this.#windows.windowsByCount(isBelow)
    const { minCount } = this.#windows
    return smallestLimits({ requests, clients, windowsByCount, minCount, clientsByMost })
  }

  #largest(bound: number, clients: number): LargeClient[] {
    const found: LargeClient[] = []
    for (let id = 0; id < clients; id++) {
      const most = this.mostOf(id)
      if (most >= bound) found.push({ id, most })
    }
    return found.sort((a, b) => b.most - a.most || a.id - b.id)
  }
}

function addTo(counts: Map<number, number>, value: number): void {
  counts.set(value, (counts.get(value) ?? 0) + 1)
}
