import { Sample } from './sample.js'

/** The latencies of a span of time, by the class of routes. */
export type Samples = ReadonlyMap<string, Sample>

/** With fewer samples of a probe, chance decides. */
const MIN_PROBED = 10

/** A baseline falls by so many requests: of ten slow ones, all may be short by chance. */
const MIN_OBSERVED = 100

/** How many standard errors a change must have, so that chance does not cause it in a day of windows. */
const SURE = 3

/**
 * What requests of each class take without a queue, as their mean. A baseline falls as soon as a window is
 * surely faster. It rises by a probe only, since under load every latency contains a queue: with the minimum
 * of recent latencies in its place, limits drift upward under steady overload (Uber saw this of its
 * Cinnamon, 2023).
 */
export class Baselines {
  readonly #meansMs = new Map<string, number>()
  /** What was observed since the last decision about a class. */
  readonly #observed = new Map<string, Sample>()

  /** Learns from a window under any load. */
  observe(samples: Samples): void {
    for (const [routeClass, window] of samples) {
      const known = this.#meansMs.get(routeClass)
      const sample = this.#observed.get(routeClass) ?? new Sample()
      sample.addAll(window)
      if (sample.count < MIN_OBSERVED && known !== undefined) {
        this.#observed.set(routeClass, sample)
        continue
      }
      this.#observed.delete(routeClass)
      const atMost = sample.meanMs + SURE * sample.errorMs
      if (known === undefined) this.#meansMs.set(routeClass, sample.meanMs)
      else if (atMost < known) this.#meansMs.set(routeClass, atMost)
    }
  }

  /**
   * Learns from a probe at low concurrency. If it may differ from the baseline by chance only, both count by
   * half: each probe is small, and their mean is not.
   */
  probe(samples: Samples, isFirst: boolean): void {
    for (const [routeClass, sample] of samples) {
      if (sample.count < MIN_PROBED) continue
      const known = this.#meansMs.get(routeClass)
      const isByChance = known !== undefined && Math.abs(sample.meanMs - known) <= SURE * sample.errorMs
      const isTrusted = isByChance && !isFirst // before the first probe, the baseline comes from under load
      this.#meansMs.set(routeClass, isTrusted ? (known + sample.meanMs) / 2 : sample.meanMs)
    }
  }

  /**
   * Returns how often the time that requests took is what they take without a queue, and how many requests
   * say so. By Little's law, this is how many requests run for each that is worked on. Classes without a
   * baseline do not count.
   */
  slowdown(samples: Samples): { readonly factor: number; readonly count: number } {
    let [tookMs, baselineMs, count] = [0, 0, 0]
    for (const [routeClass, sample] of samples) {
      const known = this.#meansMs.get(routeClass)
      if (known === undefined) continue
      tookMs += sample.sumMs
      baselineMs += sample.count * known
      count += sample.count
    }
    return { factor: baselineMs === 0 ? 1 : tookMs / baselineMs, count }
  }

  /** Returns the baseline of a class in milliseconds; `undefined` if it is not known yet. */
  of(routeClass: string): number | undefined {
    return this.#meansMs.get(routeClass)
  }
}
