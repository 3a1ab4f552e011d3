import { median } from './rounds.js'

const RESAMPLES = 2_000

/** A median with the interval in which it lies with a probability of 95 %. */
export interface Estimate {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Estimates the difference of two medians by the percentile bootstrap (Efron 1979). */
export function differenceOfMedians(some: readonly number[], others: readonly number[]): Estimate {
  return estimate(median(some) - median(others), () => median(resampled(some)) - median(resampled(others)))
}

/** Estimates a median by the percentile bootstrap. */
export function medianOf(values: readonly number[]): Estimate {
  return estimate(median(values), () => median(resampled(values)))
}

function estimate(value: number, resample: () => number): Estimate {
  const sorted = Float64Array.from({ length: RESAMPLES }, resample).sort()
  const at = (share: number) => sorted[Math.floor(share * RESAMPLES)] as number
  return { median: value, low: at(0.025), high: at(0.975) }
}

function resampled(values: readonly number[]): number[] {
  return values.map(() => values[Math.floor(Math.random() * values.length)] as number)
}
