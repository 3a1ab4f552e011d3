import { Sample } from './sample.js'

/** What is known of the latencies of a class of routes. */
interface RouteClass {
  /** Since the last call of `observe` or `probe`. */
  readonly window: Sample
  /** Under load, since the last decision about the baseline. */
  readonly observed: Sample
  /** What requests take without a queue, as their mean. */
  baselineMs: number | undefined
}

/** How often the time that requests took is what they take without a queue. */
export interface Slowdown {
  readonly factor: number
  /** How many requests say so. */
  readonly count: number
}

/** Routes beyond so many classes share one. */
const MAX_CLASSES = 100
const OTHERS = Symbol('other classes')

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
  readonly #classes = new Map<string | symbol, RouteClass>()

  /** Counts the latency of a request. */
  add(routeClass: string, latencyMs: number): void {
    this.#classOf(routeClass).window.add(latencyMs)
  }

  /** Leaves out what was counted since the last window. */
  discard(): void {
    for (const each of this.#classes.values()) each.window.clear()
  }

  /**
   * Closes a window under any load. Its slowdown is by Little's law how many requests run for each that is
   * worked on. Classes without a baseline do not count.
   */
  observe(): Slowdown {
    let [tookMs, baselineMs, count] = [0, 0, 0]
    for (const each of this.#classes.values()) {
      const { window } = each
      learn(each)
      if (each.baselineMs !== undefined) {
        tookMs += window.sumMs
        baselineMs += window.count * each.baselineMs
        count += window.count
      }
      window.clear()
    }
    return { factor: baselineMs === 0 ? 1 : tookMs / baselineMs, count }
  }

  /**
   * Learns from a probe at low concurrency. If it may differ from the baseline by chance only, both count by
   * half: each probe is small, and their mean is not.
   */
  probe(isFirst: boolean): void {
    for (const each of this.#classes.values()) {
      const { window, baselineMs } = each
      if (window.count >= MIN_PROBED) {
        const isByChance =
          baselineMs !== undefined && Math.abs(window.meanMs - baselineMs) <= SURE * window.errorMs
        const isTrusted = isByChance && !isFirst // before the first probe, the baseline comes from under load
        each.baselineMs = isTrusted ? (baselineMs + window.meanMs) / 2 : window.meanMs
      }
      window.clear()
    }
  }

  /** Returns the baseline of a class in milliseconds; `undefined` if it is not known yet. */
  of(routeClass: string): number | undefined {
    return (this.#classes.get(routeClass) ?? this.#classes.get(OTHERS))?.baselineMs
  }

  #classOf(name: string | symbol): RouteClass {
    const known = this.#classes.get(name)
    if (known !== undefined) return known
    if (this.#classes.size >= MAX_CLASSES && name !== OTHERS) return this.#classOf(OTHERS)
    const made = { window: new Sample(), observed: new Sample(), baselineMs: undefined }
    this.#classes.set(name, made)
    return made
  }
}

/** Learns from a window under load. */
function learn(routeClass: RouteClass): void {
  const { window, observed, baselineMs } = routeClass
  observed.addAll(window)
  if (observed.count === 0 || (observed.count < MIN_OBSERVED && baselineMs !== undefined)) return
  const atMost = observed.meanMs + SURE * observed.errorMs
  if (baselineMs === undefined) routeClass.baselineMs = observed.meanMs
  else if (atMost < baselineMs) routeClass.baselineMs = atMost
  observed.clear()
}
