import { Baselines, type Probed } from './baselines.js'
import { type Epoch, Epochs } from './epochs.js'
import { LimitRule, type LimitRuleOptions } from './limit-rule.js'
import { ProbePlaces } from './probe-places.js'
import { ProbeSchedule } from './probe-schedule.js'
import { Window } from './window.js'

/** The numbers of an adaptive limit. */
export interface AdaptiveLimitOptions extends LimitRuleOptions {
  /** Returns a number from 0 to 1, which keeps the probes of several processes apart. */
  readonly random: () => number
  /** Returns whether denials keep requests out, so that a probe can. Default: always. */
  readonly canProbe?: () => boolean
}

/**
 * A process started under overload if a request that begins at the end of the start takes this many times as
 * long as the first ones. Without overload, that may be twice as long, because few requests have ended yet.
 */
const START_QUEUE = 2

/** A probe ends if no request runs for this time: there is no load to keep out. */
const QUIET_MS = 100

const NOT_PROBED: Probed = { slower: 1, isSure: true }

/** A longer time is not a latency: the clock must have stepped. */
const LONGEST_MS = 86_400_000

/**
 * Finds how many requests may run at once, from how long they take. It is pure: time is an argument, in
 * milliseconds of a monotonic clock, with fractions.
 *
 * After each window, the limit moves by how much slower requests were than without a queue (`LimitRule`).
 * Latencies are means, and not percentiles. They are compared by class of routes, so that a slow report is
 * no overload.
 *
 * A probe lets few requests run at once, to measure them without a queue. It runs only while requests are
 * denied and slow. Requests that began before a probe count neither for it nor after it, since their latency
 * contains the queue of another limit.
 *
 * Until the first requests have ended, the limit is `max`. Then it follows from how many run, so a process
 * that starts under load denies no request just because it has learned nothing yet.
 */
export class AdaptiveLimit {
  readonly #options: AdaptiveLimitOptions
  readonly #rule: LimitRule
  readonly #baselines = new Baselines()
  readonly #epochs = new Epochs()
  readonly #probes: ProbeSchedule
  readonly #probePlaces = new ProbePlaces()
  #window = new Window(0, 0, 0)
  /** When the last window of a surge ended. */
  #surgeAtMs = Number.NEGATIVE_INFINITY
  /** How long requests took in the last window, or take at the end of the start. */
  #latencyMs = 0
  /** Whether requests took longer than without a queue lately, or may have. If not, the limit grows. */
  #isSlow = false
  /** Since when no request runs. */
  #quietSinceMs: number | undefined

  constructor(options: AdaptiveLimitOptions) {
    this.#options = options
    this.#probes = new ProbeSchedule(options.random)
    this.#rule = new LimitRule(options)
  }

  /** How many requests may run at once now. */
  get current(): number {
    return this.#epochs.isProbe ? Math.min(this.#options.max, this.#probePlaces.count) : this.limit
  }

  /** The limit outside of probes. A probe lowers it for a moment. */
  get limit(): number {
    return this.#rule.limit
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

  /** Records that the event loop was busy while `running` requests ran. */
  recordBusyLoop(running: number): void {
    this.#rule.recordBusyLoop(running)
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
    if (this.#isSlow && this.#probes.isDue(nowMs) && this.#canProbe) this.#startProbe(nowMs, running)
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
    const ageMs = this.#epochs.ageMs(nowMs)
    const drainMs = this.#window.isEmpty ? 0 : (ageMs * running) / this.#window.ended
    this.#isSlow = drainMs > START_QUEUE * this.#window.meanMs
    this.#baselines.start()
    this.#rule.start(running)
    this.#probes.recordStart(ageMs, nowMs)
    this.#endMeasurement(nowMs, running)
    this.#latencyMs = Math.max(this.#latencyMs, drainMs)
  }

  #startProbe(nowMs: number, running: number): void {
    const { isFirst } = this.#probes
    this.#rule.startProbe(isFirst)
    this.#epochs.startProbe(nowMs)
    this.#probePlaces.start(this.limit, running, this.#latencyMs, isFirst, nowMs)
    this.#quietSinceMs = undefined
    this.#baselines.discard()
  }

  #endProbe(nowMs: number, running: number, isMeasured: boolean): void {
    const { slower, isSure } = isMeasured ? this.#baselines.probe() : NOT_PROBED
    this.#probes.recordProbe(this.#epochs.ageMs(nowMs), nowMs)
    if (isSure) this.#rule.endProbe(slower)
    else this.#probes.hasten(nowMs)
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
    const { hasDenied } = this.#probes
    const isSurge = window.isSurge(running)
    if (isSurge) this.#surgeAtMs = nowMs
    this.#isSlow = true
    if (!window.isEmpty) {
      const slowdown = this.#baselines.observe(nowMs, this.#settledMs(nowMs))
      this.#isSlow = slowdown.count === 0 || slowdown.factor > this.#options.tolerance
      this.#rule.move(window, slowdown, { isSurge, hasDenied })
      if (hasDenied && this.#rule.hasHalved) this.#probes.hasten(nowMs)
    }
    this.#rule.followLoop(window)
    this.#probes.closeWindow()
    this.#startWindow(nowMs, running)
  }

  /**
   * How long the number of requests has been steady. In a surge, as in a new epoch, only short ones have
   * ended.
   */
  #settledMs(nowMs: number): number {
    return Math.min(this.#epochs.ageMs(nowMs), nowMs - this.#surgeAtMs)
  }
}
