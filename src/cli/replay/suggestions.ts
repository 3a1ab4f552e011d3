import { divide } from '../../tuning/crowd.js'
import { sortByPeak } from '../../tuning/peaks.js'

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

/** What some clients sent, by which limits for them are found. */
export interface SentCounts {
  readonly requests: number
  readonly clients: number
  /** How many windows of clients had each number of requests above `minCount`. */
  readonly windowsByCount: ReadonlyMap<number, number>
  readonly minCount: number
  /** How many clients had each number of requests in their busiest window. */
  readonly clientsByMost: ReadonlyMap<number, number>
}

/**
 * Returns the smallest limits for clients. A limit L denies c - L of the c requests in a window, whatever it
 * did before.
 */
export function smallestLimits({
  requests,
  clients,
  windowsByCount,
  minCount,
  clientsByMost,
}: SentCounts): LimitPairs {
  const deniedRequests = (limit: number) => sumOf(windowsByCount, (each) => Math.max(0, each - limit))
  const deniedClients = (limit: number) => sumOf(clientsByMost, (most) => (most > limit ? 1 : 0))
  const largest = Math.max(1, ...clientsByMost.keys())
  const smallest = Math.min(largest, minCount)
  return {
    requests: SHARES.map((share) => smallestLimit(share, requests, [smallest, largest], deniedRequests)),
    clients: SHARES.map((share) => smallestLimit(share, clients, [1, largest], deniedClients)),
  }
}

/**
 * Returns how many requests in a window set the largest clients apart from the others; `Infinity` if none are.
 * `clientsByMost` has the number of clients by the requests in their busiest window.
 */
export function apartFrom(clientsByMost: ReadonlyMap<number, number>): number {
  const demands = [...clientsByMost].map(([peak, weight]) => ({
    ...{ identity: '', peak, weight },
    wasDenied: false,
  }))
  return divide(sortByPeak(demands)).apart[0]?.peak ?? Number.POSITIVE_INFINITY
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
