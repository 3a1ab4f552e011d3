/**
 * The rates at which demands on a token bucket are measured, as multiples of the refill in force. A curve has one
 * peak for each.
 */
export const RATES: readonly number[] = [1 / 16, 1 / 4, 1 / 2, 1, 2, 4, 16]
/** The index of the refill in force. */
export const IN_FORCE = RATES.indexOf(1)
/** Rates of buckets are rounded by at most 0.01% each, so those that are this close are the same. */
const SAME_RATE = 0.0003

/**
 * How many units a client would have used at most if nothing had been denied: one number or, for a token bucket,
 * one for each of `RATES`. A limit denies the client at least once if, and only if, it is smaller. `Infinity`
 * where it is not known.
 *
 * The peak as a function of the rate is convex and falls, because each moment's use is the largest of some
 * lines. So a straight line between two measured rates is never below it.
 */
export type Curve = readonly number[]

/** Returns the peak at a rate, or a number that is at least as large; `Infinity` if that is not known. */
export function peakAtRate(curve: Curve, rate: number): number {
  const [only = 0] = curve
  if (curve.length === 1) return only
  const same = RATES.findIndex((each) => Math.abs(rate / each - 1) <= SAME_RATE)
  if (same >= 0) return curve[same] ?? Number.POSITIVE_INFINITY
  return interpolate(curve, rate)
}

function interpolate(curve: Curve, rate: number): number {
  const above = RATES.findIndex((each) => each >= rate)
  const last = curve[RATES.length - 1] ?? Number.POSITIVE_INFINITY
  if (above < 0) return last // a faster refill leaves no more in use
  const [high = last, low] = [curve[above], curve[above - 1]]
  const [highRate = 0, lowRate = 0] = [RATES[above], RATES[above - 1]]
  if (highRate === rate) return high
  if (low === undefined || low === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY
  return low + ((high - low) * (rate - lowRate)) / (highRate - lowRate)
}

/** Returns whether the peak at a rate is measured. Otherwise, `peakAtRate` returns a bound. */
export function isMeasured(curve: Curve, rate: number): boolean {
  return curve.length === 1 || RATES.some((each) => Math.abs(rate / each - 1) <= SAME_RATE)
}

/**
 * Returns the smallest limit that denies a client nothing. The refill of a bucket changes with its capacity, as in
 * settings with another `limit`. Between two measured rates, it is at most too large.
 */
export function smallestLimit(curve: Curve, capacity: number): number {
  if (curve.length === 1) return curve[0] ?? 0
  /** By how much the peak is larger than a bucket with the capacity for a rate. */
  const excess = (i: number) => (curve[i] ?? Number.POSITIVE_INFINITY) - (RATES[i] ?? 0) * capacity
  const fits = RATES.findIndex((_, i) => excess(i) <= 0)
  if (fits < 0) return curve[RATES.length - 1] ?? Number.POSITIVE_INFINITY
  const high = RATES[fits] ?? 0
  const before = fits === 0 ? Number.POSITIVE_INFINITY : excess(fits - 1)
  if (before === Number.POSITIVE_INFINITY) return high * capacity
  const low = RATES[fits - 1] ?? 0
  return Math.ceil(capacity * (low + ((high - low) * before) / (before - excess(fits))) - 1e-9)
}

/** Returns the larger of two peaks at each rate: what a client asked for at two times. */
export function largestOf(a: Curve, b: Curve): Curve {
  return a.map((peak, i) => Math.max(peak, b[i] ?? 0))
}

/**
 * Returns an upper bound of what a client asked two processes for at the same time. At a rate, they leave at most
 * as much in use as both would, each alone at a part of the rate: the best division counts.
 */
export function sumOf(a: Curve, b: Curve): Curve {
  if (a.length === 1) return [(a[0] ?? 0) + (b[0] ?? 0)]
  return RATES.map((rate) => {
    let least = Number.POSITIVE_INFINITY
    for (const part of RATES) {
      if (part >= rate) break
      least = Math.min(least, peakAtRate(a, part) + peakAtRate(b, rate - part))
      least = Math.min(least, peakAtRate(b, part) + peakAtRate(a, rate - part))
    }
    return Math.ceil(least)
  })
}

/** Returns the curve of a client that used this many units in a store. A slower refill leaves no fewer. */
export function seenCurve(used: number, length: number): Curve {
  return length === 1 ? [used] : RATES.map((_, i) => (i <= IN_FORCE ? used : 0))
}
