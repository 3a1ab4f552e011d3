/** Returns the next number of a sequence: evenly distributed from 0 up to 1. */
export type Random = () => number

/** The 99th percentile of the standard normal distribution. */
const NORMAL_P99 = 2.3263478740408408

/** Creates a sequence of random numbers that is the same for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) // seeds in a row give sequences that have nothing in common
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns the time until the next of events that happen `perMs` times a millisecond (a Poisson process). */
export function exponential(random: Random, perMs: number): number {
  return -Math.log(1 - random()) / perMs
}

/** Creates a log-normal distribution of latencies with a median and a 99th percentile. */
export function latencyFrom(random: Random, medianMs: number, p99Ms: number): () => number {
  const sigma = Math.log(p99Ms / medianMs) / NORMAL_P99
  return () => medianMs * Math.exp(sigma * normal(random))
}

/** Returns a number of the standard normal distribution (Box and Muller, 1958). */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/**
 * Returns the cumulative shares of `count` keys, of which the nth is drawn 1 / n^exponent as often as the
 * first: Zipf's law. Exponent 0 draws all of them equally often.
 */
export function zipfShares(count: number, exponent: number): Float64Array {
  const shares = new Float64Array(count)
  let sum = 0
  for (let i = 0; i < count; i++) {
    sum += (i + 1) ** -exponent
    shares[i] = sum
  }
  return shares.map((share) => share / sum)
}

/** Draws a key by the cumulative shares: its index. */
export function drawKey(random: Random, shares: Float64Array): number {
  const drawn = random()
  let [low, high] = [0, shares.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((shares[middle] as number) > drawn) high = middle
    else low = middle + 1
  }
  return low
}
