import { median } from './rounds.js'

const RESAMPLES = 2_000

/** A median with the interval in which it lies with a probability of 95 %. */
export interface Estimate {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Estimates a median by the percentile bootstrap (Efron 1979). */
export function medianOf(values: readonly number[]): Estimate {
  const resampled = () => values.map(() => values[Math.floor(Math.random() * values.length)] as number)
  const sorted = Float64Array.from({ length: RESAMPLES }, () => median(resampled())).sort()
  const at = (share: number) => sorted[Math.floor(share * RESAMPLES)] as number
  return { median: median(values), low: at(0.025), high: at(0.975) }
}
