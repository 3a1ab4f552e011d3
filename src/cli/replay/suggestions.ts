import { ClientNumbers } from './client-table.js'
import { CountTable } from './count-table.js'
import { apartFrom } from './set-apart.js'

/**
 * Where a client's numbers lie: its window and the requests in it, the most requests in any window, and all.
 */
const WINDOW = 0
const COUNT = 1
const MOST = 2
const TOTAL = 3

/** The shares that a suggested limit may deny. */
const SHARES = [0, 0.001, 0.01]

/** The smallest limit that denies at most a share of the requests, or of the clients. */
export interface Suggestion {
  readonly share: number
  readonly limit: number
  /** How many requests, or clients, it denies. */
  readonly denied: number
}

/** The smallest limits for all clients, and for all but the largest ones. */
export interface Suggestions extends LimitPairs {
  /** The clients whose busiest window is far above that of all others, and the limits without them. */
  readonly apart?: LimitPairs & { readonly largest: readonly LargeClient[] }
}

/** Suggestions for each share, of requests and of clients. */
export interface LimitPairs {
  readonly requests: readonly Suggestion[]
  readonly clients: readonly Suggestion[]
}

/** A client, by its number, with the requests in its busiest window. */
export interface LargeClient {
  readonly id: number
  readonly most: number
}

/** Returns two suggestions for each share: one for requests, and one for clients. */
export function suggestionPairs({
  requests,
  clients,
}: LimitPairs): readonly (readonly [ofRequests: Suggestion, ofClients: Suggestion])[] {
  return requests.flatMap((ofRequests, i) => {
    const ofClients = clients[i]
    return ofClients === undefined ? [] : [[ofRequests, ofClients] as const]
  })
}

/**
 * Counts the requests of each client in each window of a fixed length. A limit L denies c - L of the c
 * requests in a window, whatever it did before, so these counts give what every limit would deny. Memory:
 * four numbers for each client, and one for each client and distinct count, up to a bound.
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
      addTo(clientsByMost, this.#numbers.get(id, MOST))
    }
    const bound = apartFrom(clientsByMost)
    const all = this.#limitsBelow(Number.POSITIVE_INFINITY, clients)
    if (bound === Number.POSITIVE_INFINITY) return all
    return { ...all, apart: { ...this.#limitsBelow(bound, clients), largest: this.#largest(bound, clients) } }
  }

  /** Returns the smallest limits for the clients of which no window has so many requests. */
  #limitsBelow(bound: number, clients: number): LimitPairs {
    const isBelow = (id: number) => this.#numbers.get(id, MOST) < bound
    const clientsByMost = new Map<number, number>()
    let requests = 0
    let count = 0
    for (let id = 0; id < clients; id++) {
      if (!isBelow(id)) continue
      requests += this.#numbers.get(id, TOTAL)
      count++
      addTo(clientsByMost, this.#numbers.get(id, MOST))
    }
    const windows = this.#windows.windowsByCount(isBelow)
    const deniedRequests = (limit: number) => sumOf(windows, (each) => Math.max(0, each - limit))
    const deniedClients = (limit: number) => sumOf(clientsByMost, (most) => (most > limit ? 1 : 0))
    const largest = Math.max(1, ...clientsByMost.keys())
    const smallest = Math.min(largest, this.#windows.minCount)
    return {
      requests: SHARES.map((share) => smallestLimit(share, requests, [smallest, largest], deniedRequests)),
      clients: SHARES.map((share) => smallestLimit(share, count, [1, largest], deniedClients)),
    }
  }

  #largest(bound: number, clients: number): LargeClient[] {
    const found: LargeClient[] = []
    for (let id = 0; id < clients; id++) {
      const most = this.#numbers.get(id, MOST)
      if (most >= bound) found.push({ id, most })
    }
    return found.sort((a, b) => b.most - a.most || a.id - b.id)
  }
}

function addTo(counts: Map<number, number>, value: number): void {
  counts.set(value, (counts.get(value) ?? 0) + 1)
}

function sumOf(counts: ReadonlyMap<number, number>, weightOf: (value: number) => number): number {
  let sum = 0
  for (const [value, times] of counts) sum += times * weightOf(value)
  return sum
}

/** Searches limits, of which the last denies nothing: `deniedBy` never grows with the limit. */
function smallestLimit(
  share: number,
  total: number,
  [first, last]: readonly [number, number],
  deniedBy: (limit: number) => number,
): Suggestion {
  let low = first
  let high = last
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (deniedBy(middle) <= share * total) high = middle
    else low = middle + 1
  }
  return { share, limit: low, denied: deniedBy(low) }
}
