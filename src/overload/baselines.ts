import { ClassBaseline } from './class-baseline.js'
import { Sample } from './sample.js'

/** The ratio of latencies to baselines. */
export interface Slowdown {
  readonly factor: number
  /** The effective sample size: small if a few requests dominate the sum. */
  readonly count: number
}

/** What a probe has shown. */
export interface Probed {
  /** The ratio of the new baselines to the old ones. */
  readonly slower: number
  /** Whether no class has to be probed once more. */
  readonly isSure: boolean
}

/** The most classes. All further ones share one. */
const MAX_CLASSES = 500
const OTHERS = Symbol('other classes')

/**
 * The mean latency of each class without a queue. A baseline falls as soon as requests are surely faster. It
 * rises only by a probe, since under load every latency contains a queue: limits whose baseline is renewed
 * under load drift upward with it (Uber, "Cinnamon Auto-Tuner", 2023). Until the first probe, it is what the
 * first requests took.
 */
export class Baselines {
  readonly #classes = new Map<string | symbol, ClassBaseline>()
  #isProbed = false
  #windowMs = 0

  /** Counts the latency of a request. */
  add(routeClass: string, latencyMs: number): void {
    this.#classOf(routeClass).window.add(latencyMs)
  }

  /** Discards what was counted since the last window. */
  discard(): void {
    for (const { window } of this.#classes.values()) window.clear()
  }

  /** Takes the first requests of the process as baselines, until a probe knows better. */
  start(): void {
    for (const each of this.#classes.values()) {
      each.start()
      each.window.clear()
    }
  }

  /**
   * Closes a window under any load. By Little's law, its slowdown is how many requests run for each one that
   * is worked on. Classes without a baseline do not count. The number of requests has been steady for
   * `settledMs`.
   */
  observe(nowMs: number, settledMs: number): Slowdown {
    const counted = new Sample()
    let baselineMs = 0
    for (const each of this.#classes.values()) {
      const { window } = each
      if (window.count === 0) continue
      each.observe(nowMs, settledMs)
      if (each.baselineMs !== undefined) {
        counted.addAll(window)
        baselineMs += window.count * each.baselineMs
      }
      window.clear()
    }
    const { sumMs, sumOfSquares } = counted
    if (baselineMs === 0 || sumOfSquares === 0) return { factor: 1, count: 0 }
    this.#windowMs = baselineMs / counted.count
    return { factor: sumMs / baselineMs, count: sumMs ** 2 / sumOfSquares }
  }

  /** Whether a class in this window needs more samples of probes. */
  get isUnsure(): boolean {
    for (const { isUnsure } of this.#classes.values()) if (isUnsure) return true
    return false
  }

  /**
   * Closes the window of a probe at low concurrency. Classes that another probe has to confirm do not count.
   */
  probe(): Probed {
    const classes = Array.from(this.#classes.values())
    const isFirst = !this.#isProbed && classes.some(({ hasEnoughSamples }) => hasEnoughSamples)
    if (isFirst) this.#isProbed = true
    let [beforeMs, afterMs, isSure] = [0, 0, true]
    for (const each of classes) {
      const { window, baselineMs } = each
      const { count } = window
      const isConfirmed = each.probe(isFirst)
      window.clear()
      if (!isConfirmed) isSure = false
      else if (baselineMs !== undefined && each.baselineMs !== undefined) {
        beforeMs += count * baselineMs
        afterMs += count * each.baselineMs
      }
    }
    return { slower: beforeMs > 0 ? afterMs / beforeMs : 1, isSure }
  }

  /** The mean baseline of the requests of the last window, in milliseconds; 0 if it is not known yet. */
  get windowMs(): number {
    return this.#windowMs
  }

  /** Returns the baseline of a class in milliseconds; `undefined` if it is not known yet. */
  of(routeClass: string): number | undefined {
    return (this.#classes.get(routeClass) ?? this.#classes.get(OTHERS))?.baselineMs
  }

  #classOf(name: string | symbol): ClassBaseline {
    const routeClass = this.#classes.get(name)
    if (routeClass !== undefined) return routeClass
    if (this.#classes.size >= MAX_CLASSES && name !== OTHERS) return this.#classOf(OTHERS)
    const newClass = new ClassBaseline(!this.#isProbed)
    this.#classes.set(name, newClass)
    return newClass
  }
}
