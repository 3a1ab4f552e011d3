import { ClientNumbers } from './client-table.js'

/** Where a client's numbers lie: its window and the requests in it, and the most requests in any window. */
const WINDOW = 0
const COUNT = 1
const MOST = 2

/** The shares that a suggested limit may deny. */
const SHARES = [0, 0.001, 0.01]

/** The smallest limit that denies at most a share of the requests, or of the clients. */
export interface Suggestion {
  readonly share: number
  readonly limit: number
  /** How many requests, or clients, it denies. */
  readonly denied: number
}

export interface Suggestions {
  readonly requests: readonly Suggestion[]
  readonly clients: readonly Suggestion[]
}

/** Returns two suggestions for each share: one for requests, and one for clients. */
export function suggestionPairs({
  requests,
  clients,
}: Suggestions): readonly (readonly [ofRequests: Suggestion, ofClients: Suggestion])[] {
  return requests.flatMap((ofRequests, i) => {
    const ofClients = clients[i]
    return ofClients === undefined ? [] : [[ofRequests, ofClients] as const]
  })
}

/**
 * Counts the requests of each client in each window of a fixed length. A limit L denies c - L of the c
 * requests in a window, whatever it did before, so these counts give what every limit would deny. Memory:
 * three numbers for each client, and one for each distinct count, of which n requests have at most √(2n).
 */
export class WindowCounts {
  readonly #windowMs: number
  readonly #startsAt: 'clock' | 'first-request'
  readonly #numbers = new ClientNumbers(3)
  /** How many windows had this many requests. */
  readonly #windowsByCount = new Map<number, number>()

  constructor(windowMs: number, startsAt: 'clock' | 'first-request') {
    this.#windowMs = windowMs
    this.#startsAt = startsAt
  }

  /** Counts a request. `nowMs` never goes back. */
  add(id: number, nowMs: number): void {
    const page = this.#numbers.pageOf(id)
    const at = this.#numbers.offsetOf(id)
    const lastWindow = page[at + WINDOW] ?? 0
    const lastCount = page[at + COUNT] ?? 0
    const window = this.#windowAt(nowMs, lastWindow, lastCount)
    if (window !== lastWindow) this.#countWindow(lastCount)
    const count = window === lastWindow ? lastCount + 1 : 1
    page[at + WINDOW] = window
    page[at + COUNT] = count
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

  #countWindow(count: number): void {
    if (count > 0) this.#windowsByCount.set(count, (this.#windowsByCount.get(count) ?? 0) + 1)
  }

  /** Returns the smallest limits for the first `clients` clients. Ends the count. */
  suggest(clients: number): Suggestions {
    const clientsByMost = new Map<number, number>()
    for (let id = 0; id < clients; id++) {
      this.#countWindow(this.#numbers.get(id, COUNT))
      const most = this.#numbers.get(id, MOST)
      clientsByMost.set(most, (clientsByMost.get(most) ?? 0) + 1)
    }
    const requests = sumOf(this.#windowsByCount, (count) => count)
    const deniedRequests = (limit: number) =>
      sumOf(this.#windowsByCount, (count) => Math.max(0, count - limit))
    const deniedClients = (limit: number) => sumOf(clientsByMost, (most) => (most > limit ? 1 : 0))
    const largest = Math.max(1, ...clientsByMost.keys())
    return {
      requests: SHARES.map((share) => smallestLimit(share, requests, largest, deniedRequests)),
      clients: SHARES.map((share) => smallestLimit(share, clients, largest, deniedClients)),
    }
  }
}

function sumOf(counts: ReadonlyMap<number, number>, weightOf: (value: number) => number): number {
  let sum = 0
  for (const [value, times] of counts) sum += times * weightOf(value)
  return sum
}

/** Searches the limits from 1 to `largest`, which denies nothing: `deniedBy` never grows with the limit. */
function smallestLimit(
  share: number,
  total: number,
  largest: number,
  deniedBy: (limit: number) => number,
): Suggestion {
  let low = 1
  let high = largest
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (deniedBy(middle) <= share * total) high = middle
    else low = middle + 1
  }
  return { share, limit: low, denied: deniedBy(low) }
}
