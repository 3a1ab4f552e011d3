/** Clients are far above others from this many times on: the largest of the rest, or the median of all. */
const MIN_GAP = 4
const MAX_MEDIANS = 100
/** Small numbers differ by chance: a gap has at least this many requests. */
const MIN_GAP_REQUESTS = 10
/** The clients that are set apart are at most this share of all, or one. */
const MAX_SHARE = 0.05
/** Among fewer clients than this, none stands out. */
const MIN_CLIENTS = 5

/**
 * Returns how many requests in a window set the largest clients apart from the others: all clients that are above
 * the widest gap, or that sent a hundred times as many as the median client. `Infinity` if no clients are.
 * `clientsByMost` has the number of clients whose busiest window had so many requests.
 */
export function apartFrom(clientsByMost: ReadonlyMap<number, number>): number {
  const steps = [...clientsByMost].sort(([a], [b]) => b - a)
  const all = steps.reduce((sum, [, clients]) => sum + clients, 0)
  if (all < MIN_CLIENTS) return Number.POSITIVE_INFINITY
  const medianMost = medianOf(steps, all)
  let bound = Number.POSITIVE_INFINITY
  let widest = 0
  let above = 0
  for (const [i, [most, clients]] of steps.entries()) {
    above += clients
    if (above > Math.max(1, MAX_SHARE * all)) break
    const [next = most] = steps[i + 1] ?? []
    const isGap = most >= MIN_GAP * next && most - next >= MIN_GAP_REQUESTS && most / next > widest
    if (isGap) widest = most / next
    if (isGap || most >= MAX_MEDIANS * medianMost) bound = most
  }
  return bound
}

/** Returns the median of values, of which each comes several times, the largest first. */
function medianOf(steps: readonly (readonly [value: number, times: number])[], all: number): number {
  let above = 0
  for (const [value, times] of steps) {
    above += times
    if (2 * above >= all) return value
  }
  return 0
}
