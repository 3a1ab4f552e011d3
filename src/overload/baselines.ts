import { Sample } from './sample.js'

/** What is known about the latencies of a class of routes. */
interface RouteClass {
  /** Since the last call of `observe` or `probe`. */
  readonly window: Sample
  /** Under load, since the last decision about the baseline. */
  readonly observed: Sample
  /** Of the last probes. */
  readonly probed: Sample
  /** Whether the last probe was so slow that another one has to confirm it. */
  isInDoubt: boolean
  /** The mean latency without a queue. */
  baselineMs: number | undefined
  /** For this many more windows, the baseline follows the first requests, until there are enough of them. */
  windowsToLearn: number
  /** When the first window with requests of this class closed. */
  learningSinceMs: number | undefined
}

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

/** With fewer samples of a probe, chance decides. */
const MIN_PROBED = 10
/** The most samples of probes. More would only be older. */
const MAX_PROBED = 100

/** A baseline falls only after this many requests: ten may all be short by chance. */
const MIN_OBSERVED = 100
/** With so many requests at the start, later ones could only add a queue to the baseline of a class. */
const ENOUGH_AT_START = 20
/** In how many windows a class collects that many first requests for its baseline. */
const LEARNING_WINDOWS = 10

/**
 * After this many times the baseline, most requests that began together have ended, not only the short ones.
 * A baseline that is more than `FAR` times as long as requests take is wrong.
 */
const SETTLED = 5
const FAR = 10

/** A probe that is slower than this many baselines is repeated: the server may have stalled for a moment. */
const DOUBTFUL = 3

/** A change of this many standard errors does not happen by chance in a day of windows. */
const SURE = 3
/** The same, where a mistake costs little: it only discards earlier probes. */
const LIKELY = 2

/**
 * The mean latency of each class without a queue. A baseline falls as soon as requests are surely faster. It
 * rises only by a probe, since under load every latency contains a queue: limits whose baseline is renewed
 * under load drift upward with it (Uber, "Cinnamon Auto-Tuner", 2023). Until the first probe, it is what the
 * first requests took.
 */
export class Baselines {
  readonly #classes = new Map<string | symbol, RouteClass>()
  #isProbed = false
  #windowMs = 0

  /** Counts the latency of a request. */
  add(routeClass: string, latencyMs: number): void {
    this.#classOf(routeClass).window.add(latencyMs)
  }

  /** Discards what was counted since the last window. */
  discard(): void {
    for (const each of this.#classes.values()) each.window.clear()
  }

  /**
   * Closes a window under any load. By Little's law, its slowdown is how many requests run for each one that
   * is worked on. Classes without a baseline do not count. A baseline changes only after the number of
   * requests has been steady for `settledMs`, since before that only short requests have ended.
   */
  observe(nowMs: number, settledMs: number): Slowdown {
    const counted = new Sample()
    let baselineMs = 0
    for (const each of this.#classes.values()) {
      const { window } = each
      if (window.count === 0) continue
      if (settledMs > SETTLED * Math.min(each.baselineMs ?? 0, FAR * window.meanMs)) {
        if (each.windowsToLearn > 0) learn(each, nowMs)
        else fall(each)
      }
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
    for (const { window, probed } of this.#classes.values())
      if (window.count > 0 && window.count + probed.count < MIN_PROBED) return true
    return false
  }

  /** Takes the first requests of the process as baselines, until a probe knows better. */
  start(): void {
    for (const each of this.#classes.values()) {
      const { window, observed } = each
      each.baselineMs = window.meanMs
      if (window.count >= ENOUGH_AT_START) each.windowsToLearn = 0
      observed.addAll(window)
      window.clear()
    }
  }

  /**
   * Learns from a probe at low concurrency. Each probe is small, so earlier probes count too unless
   * latencies have changed. The first probe replaces what was learned under load. A class that has become
   * much slower keeps its baseline until the next probe confirms it.
   */
  probe(): Probed {
    const classes = Array.from(this.#classes.values())
    const isFirst = !this.#isProbed && classes.some(({ window }) => window.count >= MIN_PROBED)
    if (isFirst) this.#isProbed = true
    let [beforeMs, afterMs, isSure] = [0, 0, true]
    for (const each of classes) {
      if (isDoubtful(each)) {
        isSure = false
        continue
      }
      const { window, probed, baselineMs } = each
      const { count } = window
      if (isFirst) each.baselineMs = undefined
      each.windowsToLearn = 0
      if (haveChanged(probed, window)) probed.clear()
      else if (probed.count >= MAX_PROBED) probed.halve()
      probed.addAll(window)
      if (probed.count >= MIN_PROBED) each.baselineMs = probed.meanMs
      window.clear()
      each.observed.clear()
      if (baselineMs === undefined || each.baselineMs === undefined) continue
      beforeMs += count * baselineMs
      afterMs += count * each.baselineMs
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

  #classOf(name: string | symbol): RouteClass {
    const routeClass = this.#classes.get(name)
    if (routeClass !== undefined) return routeClass
    if (this.#classes.size >= MAX_CLASSES && name !== OTHERS) return this.#classOf(OTHERS)
    const samples = { window: new Sample(), observed: new Sample(), probed: new Sample() }
    const windowsToLearn = this.#isProbed ? 0 : LEARNING_WINDOWS
    const newClass = {
      ...samples,
      baselineMs: undefined,
      isInDoubt: false,
      windowsToLearn,
      learningSinceMs: undefined,
    }
    this.#classes.set(name, newClass)
    return newClass
  }
}

/**
 * Takes the mean of the first requests. One window is not enough, because the shortest requests end first.
 */
function learn(routeClass: RouteClass, nowMs: number): void {
  const { window, observed } = routeClass
  routeClass.learningSinceMs ??= nowMs
  observed.addAll(window)
  routeClass.baselineMs = observed.meanMs
  routeClass.windowsToLearn = Math.max(1, routeClass.windowsToLearn - 1)
  const isSettled = nowMs - routeClass.learningSinceMs > SETTLED * observed.meanMs
  if (!isSettled || (observed.count < MIN_OBSERVED && routeClass.windowsToLearn > 1)) return
  routeClass.windowsToLearn = 0
  observed.clear()
}

/** Lowers the baseline if requests surely take less time, even under load. */
function fall(routeClass: RouteClass): void {
  const { window, observed, probed, baselineMs = 0 } = routeClass
  observed.addAll(window)
  if (observed.count < MIN_OBSERVED) return
  const atMostMs = observed.meanMs + SURE * observed.errorMs
  if (atMostMs < baselineMs) {
    routeClass.baselineMs = atMostMs
    probed.clear()
  }
  observed.clear()
}

/** Returns whether what a probe has shown of a class needs another one, and discards it then. */
function isDoubtful(routeClass: RouteClass): boolean {
  const { window, observed, baselineMs = Number.POSITIVE_INFINITY, isInDoubt } = routeClass
  const isSlow = window.count > 0 && window.meanMs > DOUBTFUL * baselineMs
  routeClass.isInDoubt = isSlow && !isInDoubt
  if (!routeClass.isInDoubt) return false
  window.clear()
  observed.clear()
  return true
}

/** Whether two samples differ by more than chance. */
function haveChanged(one: Sample, other: Sample): boolean {
  if (one.count < MIN_PROBED || other.count < MIN_PROBED) return false
  return Math.abs(one.meanMs - other.meanMs) > LIKELY * Math.hypot(one.errorMs, other.errorMs)
}
