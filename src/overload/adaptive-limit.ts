import { Baselines, type Probed } from './baselines.js'
import { type Epoch, Epochs } from './epochs.js'
import { ProbePlaces } from './probe-places.js'
import { ProbeSchedule } from './probe-schedule.js'
import { Window } from './window.js'

/** The numbers of an adaptive limit. */
export interface AdaptiveLimitOptions {
  /**
   * The least limit after the first requests of the process have ended, and the limit if they show an overload.
   * Until they have ended, the limit is `max`.
   */
  readonly initial: number
  /** The limit never falls below it, so that there are latencies to learn from. */
  readonly min: number
  readonly max: number
  /** The ratio of latency to baseline that counts as healthy. */
  readonly tolerance: number
  /** Returns a number from 0 to 1, which keeps the probes of several processes apart. */
  readonly random: () => number
  /** Returns whether denials keep requests out, so that a probe can. Default: always. */
  readonly canProbe?: () => boolean
}

/** A window with this many samples moves the limit half of the way. */
const HALF_WAY_SAMPLES = 20

/**
 * At the end of the start, the limit is how many requests run, and this many standard deviations more, by
 * Poisson's distribution.
 */
const START_MARGIN = 4

/** The limit moves only if this share of it was used: up, and down. */
const GROWS_FROM = 0.5
const FALLS_FROM = 0.75

/** A probe ends if no request runs for this time: there is no load to keep out. */
const QUIET_MS = 100

const NOT_PROBED: Probed = { slower: 1, isSure: true }

/** A longer time is not a latency: the clock must have stepped. */
const LONGEST_MS = 86_400_000

/**
 * Finds how many requests may run at once, from how long they take. It is pure: time is an argument, in
 * milliseconds of a monotonic clock, with fractions.
 *
 * The rule is that of Envoy's adaptive concurrency filter: the limit is multiplied by `tolerance × baseline
 * / latency`, between 0.5 and 2, and the square root of the limit is added for bursts. Latencies are means,
 * and not percentiles. Six more things differ:
 *
 * - Latencies are compared by class of routes, so that a slow report is no overload.
 * - A window with few samples moves the limit less.
 * - The baseline falls whenever a window is surely faster, and a probe runs only while requests are denied.
 * - The limit does not grow while less than half of it is used (Netflix' Gradient2), nor fall while less
 *   than three quarters are: then no queue is as long as it, and requests take longer for another reason.
 * - A fall is undone as soon as requests are as fast as without a queue and none is denied, unless a probe
 *   has come since. The queue of a burst goes away by itself, and the limit would find its way back only
 *   slowly.
 * - Until the first requests have ended, the limit is `max`. Then it follows from how many run, so a process
 *   that starts under load denies no request just because it has learned nothing yet.
 *
 * A probe lets few requests run at once. Requests that began before a probe count neither for it nor after
 * it, since their latency contains the queue of another limit.
 */
export class AdaptiveLimit {
  readonly #options: AdaptiveLimitOptions
  readonly #baselines = new Baselines()
  readonly #epochs = new Epochs()
  readonly #probes: ProbeSchedule
  readonly #probePlaces = new ProbePlaces()
  #limit: number
  #window = new Window(0, 0, 0)
  /** When the last window of a surge ended. */
  #surgeAtMs = Number.NEGATIVE_INFINITY
  /** The highest limit since the last probe that did for requests without a queue. */
  #calmLimit: number
  /** How long requests took in the last window, or take at the end of the start. */
  #latencyMs = 0
  /** Since when no request runs. */
  #quietSinceMs: number | undefined

  constructor(options: AdaptiveLimitOptions) {
    this.#options = options
    this.#probes = new ProbeSchedule(options.random)
    this.#limit = this.#calmLimit = options.max
  }

  /** How many requests may run at once now. */
  get current(): number {
    return this.#epochs.isProbe ? this.#probePlaces.count : this.#limit
  }

  /** The limit outside of probes. A probe lowers it for a moment. */
  get limit(): number {
    return this.#limit
  }

  get isProbing(): boolean {
    return this.#epochs.isProbe
  }

  /** Returns the epoch of a request that begins now. Each one has to `end`. */
  begin(nowMs: number): Epoch {
    return this.#epochs.begin(nowMs)
  }

  /** Returns the baseline of a class of routes in milliseconds; `undefined` if it is not known yet. */
  baselineMs(routeClass: string): number | undefined {
    return this.#baselines.of(routeClass)
  }

  /**
   * Counts a request that ended or sent its first byte. `running` is how many requests ran then, including
   * this one. Without a class of routes, its latency does not count.
   */
  end(routeClass: string | undefined, latencyMs: number, epoch: Epoch, running: number): void {
    this.#window.end(running)
    if (this.#epochs.isEarlier(epoch)) this.#probePlaces.end()
    if (!this.#epochs.isCurrent(epoch)) return
    const isLatency = latencyMs >= 0 && latencyMs < LONGEST_MS
    this.#epochs.end(isLatency ? latencyMs : 0)
    if (routeClass === undefined || !isLatency) return
    this.#baselines.add(routeClass, latencyMs)
    this.#window.add(latencyMs)
  }

  /**
   * Records how late the event loop was. This can only lower the limit, and only if most of it is used and
   * the loop was late in every measurement of a window. A single pause, such as a garbage collection, does
   * not count.
   */
  recordLoopDelay(delayMs: number): void {
    this.#window.addLoopDelay(delayMs)
  }

  /** Counts a request that was denied because there was no place. */
  recordDenial(nowMs: number): void {
    this.#probes.recordDenial(nowMs)
  }

  /**
   * Closes the window if it is over. Call it after each request and, while requests wait, by a timer.
   * `running` is how many requests have a place.
   */
  advance(nowMs: number, running: number): void {
    const isMeasured = this.#epochs.isMeasured(nowMs, this.#needsMore)
    const isOver = isMeasured || this.#epochs.isGivenUp(nowMs)
    if (isOver && this.#epochs.isStart) this.#endStart(nowMs, running)
    else if (isOver || (this.#epochs.isProbe && this.#isQuiet(nowMs, running)))
      this.#endProbe(nowMs, running, isMeasured)
    if (this.#epochs.isProbe) this.#probePlaces.advance(nowMs)
    if (this.#epochs.isStart || this.#epochs.isProbe) return
    if (this.#probes.isDue(nowMs) && this.#canProbe) this.#startProbe(nowMs, running)
    else if (this.#window.isOver(nowMs)) this.#closeWindow(nowMs, running)
  }

  readonly #needsMore = (): boolean => this.#baselines.isUnsure

  get #canProbe(): boolean {
    const { min, max, canProbe } = this.#options
    return min < max && canProbe?.() !== false
  }

  #isQuiet(nowMs: number, running: number): boolean {
    if (running > 0) this.#quietSinceMs = undefined
    else this.#quietSinceMs ??= nowMs
    return this.#quietSinceMs !== undefined && nowMs - this.#quietSinceMs > QUIET_MS
  }

  /**
   * If the server is overloaded, a request that begins now takes longer than the first ones took. By
   * Little's law, it takes as long as those that run need to end.
   */
  #endStart(nowMs: number, running: number): void {
    const { initial, min, max } = this.#options
    const ageMs = this.#epochs.ageMs(nowMs)
    const drainMs = this.#window.isEmpty ? 0 : (ageMs * running) / this.#window.count
    this.#baselines.start()
    this.#limit = this.#calmLimit = clamp(
      Math.max(initial, running + START_MARGIN * Math.sqrt(running)),
      min,
      max,
    )
    this.#probes.recordStart(ageMs, nowMs)
    this.#endMeasurement(nowMs, running)
    this.#latencyMs = Math.max(this.#latencyMs, drainMs)
  }

  /**
   * If the server was overloaded at its start, how many requests ran then says nothing, so the limit starts
   * anew.
   */
  #startProbe(nowMs: number, running: number): void {
    const { min, initial } = this.#options
    const { isFirst } = this.#probes
    if (isFirst) this.#limit = Math.min(this.#limit, Math.max(min, initial))
    this.#epochs.startProbe(nowMs)
    this.#probePlaces.start(this.#limit, running, this.#latencyMs, isFirst, nowMs)
    this.#quietSinceMs = undefined
    this.#baselines.discard()
  }

  /**
   * By Little's law, slower requests need more places for the same work. So a limit that has fallen rises
   * again.
   */
  #endProbe(nowMs: number, running: number, isMeasured: boolean): void {
    const { slower, isSure } = isMeasured ? this.#baselines.probe() : NOT_PROBED
    this.#probes.recordProbe(this.#epochs.ageMs(nowMs), nowMs)
    if (isSure) {
      this.#limit = Math.max(this.#limit, Math.min(this.#limit * slower, this.#calmLimit))
      this.#calmLimit = this.#limit
    } else {
      this.#probes.hasten(nowMs)
    }
    this.#endMeasurement(nowMs, running)
  }

  #endMeasurement(nowMs: number, running: number): void {
    this.#epochs.endMeasurement(nowMs)
    this.#startWindow(nowMs, running)
  }

  #startWindow(nowMs: number, running: number): void {
    if (!this.#window.isEmpty) this.#latencyMs = this.#window.meanMs
    this.#window = new Window(nowMs, running, this.#baselines.windowMs || this.#latencyMs)
  }

  #closeWindow(nowMs: number, running: number): void {
    const window = this.#window
    if (window.isSurge(running)) this.#surgeAtMs = nowMs
    if (!window.isEmpty) this.#adjust(nowMs)
    if (window.peak >= this.#limit * FALLS_FROM)
      this.#limit = Math.max(this.#options.min, this.#limit * window.loopFactor)
    this.#probes.closeWindow()
    this.#startWindow(nowMs, running)
  }

  #adjust(nowMs: number): void {
    const { min, max, tolerance } = this.#options
    const { peak, loopFactor } = this.#window
    const { factor, count } = this.#baselines.observe(nowMs, this.#settledMs(nowMs))
    const next = this.#limit * clamp(tolerance / factor, 0.5, 2) + Math.sqrt(this.#limit)
    if (peak >= this.#limit * (next > this.#limit ? GROWS_FROM : FALLS_FROM))
      this.#limit = clamp(this.#limit + (next - this.#limit) * this.#weightOf(count, nowMs), min, max)
    if (this.#probes.hasDenied) {
      if (this.#limit < this.#calmLimit / 2) this.#probes.hasten(nowMs)
    } else if (factor <= tolerance && loopFactor === 1) {
      this.#limit = this.#calmLimit = Math.max(this.#limit, this.#calmLimit)
    }
  }

  /**
   * Returns how far a window moves the limit, by the effective number of its samples. After a surge, it is
   * all of the way: requests would be denied by the time that there are more samples.
   */
  #weightOf(count: number, nowMs: number): number {
    if (this.#surgeAtMs === nowMs && this.#window.hasEnoughSamples) return 1
    return count / (count + HALF_WAY_SAMPLES)
  }

  /**
   * How long the number of requests has been steady. In a surge, as in a new epoch, only short ones have
   * ended.
   */
  #settledMs(nowMs: number): number {
    return Math.min(this.#epochs.ageMs(nowMs), nowMs - this.#surgeAtMs)
  }
}

const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value))
