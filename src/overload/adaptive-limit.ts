import { Baselines } from './baselines.js'

/** The numbers of an adaptive limit. */
export interface AdaptiveLimitOptions {
  /** The limit before anything is known. */
  readonly initial: number
  /** The limit never falls below it, so that there are latencies to learn from. */
  readonly min: number
  readonly max: number
  /** How often a latency may be its baseline: what a healthy queue costs. */
  readonly tolerance: number
  /** Returns a number from 0 to 1, which keeps the probes of several processes apart. */
  readonly random: () => number
  /** Returns whether denials keep requests out, so that a probe can. Default: always. */
  readonly canProbe?: () => boolean
}

/** A request that runs, as `begin` returned it. It counts only in the epoch in which it began. */
export type Epoch = number

/** A window closes after this time, if it has enough samples, and after a second otherwise. */
const WINDOW_MS = 100
const LONGEST_WINDOW_MS = 1000
const MIN_SAMPLES = 10

/** A window of so many samples moves the limit half of the way. */
const HALF_WAY_SAMPLES = 20

/** A probe lets so many requests run at once, as Envoy's does. */
const PROBE_LIMIT = 3
const PROBE_SAMPLES = 30
/** A probe that meets classes of which little is known takes more. */
const LARGEST_PROBE_SAMPLES = 100
const LONGEST_PROBE_MS = 2000
const ABANDON_PROBE_MS = 30_000

/** Between two probes of a server that denies. Envoy probes every minute. */
const PROBE_EVERY_MS = 30_000
/** A limit that has halved may face a slower server, and not a longer queue: then it probes soon. */
const PROBE_SOON_MS = 3000
/** Denials for less than this time are a burst, and need no probe. */
const LASTING_MS = 1000

/** An event loop that is late by more than this, in every measurement of a window, has too much to do. */
const MAX_LOOP_DELAY_MS = 30

/** What takes longer is no latency, as after a step of the clock. */
const LONGEST_MS = 86_400_000

interface Window {
  readonly startedAtMs: number
  count: number
  /** The most requests that ran at once. */
  peak: number
  /** The least delay of the event loop. */
  loopDelayMs: number
}

/**
 * Finds how many requests may run at once, from what they take. It is pure: time is an argument, in
 * milliseconds of a monotonic clock, with fractions.
 *
 * The rule is that of Envoy's adaptive concurrency filter: the limit is multiplied by
 * `tolerance × baseline / latency`, between 0.5 and 2, and the square root of the limit is added for bursts.
 * Four things differ:
 *
 * - Latencies are compared by class of routes, so that a slow report is no overload.
 * - A window with few samples moves the limit less.
 * - The baseline falls whenever a window is surely faster, and a probe runs only while requests are denied.
 * - The limit does not grow while less than half of it is used (Netflix' Gradient2).
 *
 * A probe lets three requests run at once. Requests that began before a probe count neither for it nor
 * after it, since their latency has the queue of another limit in it.
 */
export class AdaptiveLimit {
  readonly #options: AdaptiveLimitOptions
  readonly #baselines = new Baselines()
  #limit: number
  #window: Window = windowAt(0)
  #isProbing = false
  #probes = 0
  #firstMs: number | undefined
  #epoch = 0
  #nextProbeAtMs = Number.NEGATIVE_INFINITY
  /** The limit at the end of the last probe. */
  #probedLimit: number
  /** Since when each window had a denial; `undefined` if the last one had none. */
  #deniedSinceMs: number | undefined
  #hasDenied = false

  constructor(options: AdaptiveLimitOptions) {
    this.#options = options
    this.#limit = options.initial
    this.#probedLimit = options.initial
  }

  /** How many requests may run at once now. */
  get current(): number {
    return this.#isProbing ? Math.min(PROBE_LIMIT, this.#limit) : this.#limit
  }

  /** The limit without a probe, which is smaller for a moment. */
  get limit(): number {
    return this.#limit
  }

  get isProbing(): boolean {
    return this.#isProbing
  }

  /** The epoch of a request that begins now. */
  get epoch(): Epoch {
    return this.#epoch
  }

  /** Returns the baseline of a class of routes in milliseconds; `undefined` if it is not known yet. */
  baselineMs(routeClass: string): number | undefined {
    return this.#baselines.of(routeClass)
  }

  /** Counts a request that ended, or sent its first byte, while `running` requests ran, with itself. */
  sample(routeClass: string, latencyMs: number, epoch: Epoch, running: number): void {
    if (epoch !== this.#epoch || !(latencyMs >= 0 && latencyMs < LONGEST_MS)) return
    this.#baselines.add(routeClass, latencyMs)
    this.#window.count++
    if (running > this.#window.peak) this.#window.peak = running
  }

  /**
   * Counts how late the event loop was, as of a timer. It can only lower the limit: if the loop was late in
   * every measurement of a window, and not by a pause such as a garbage collection.
   */
  loopDelay(delayMs: number): void {
    const { loopDelayMs } = this.#window
    if (delayMs < loopDelayMs) this.#window.loopDelayMs = delayMs
  }

  /** Counts a request that was denied for want of a place. */
  denied(nowMs: number): void {
    this.#hasDenied = true
    this.#deniedSinceMs ??= nowMs
  }

  /** Closes the window if it is over. Call it after each request and, while requests wait, by a timer. */
  advance(nowMs: number): void {
    this.#firstMs ??= nowMs
    if (this.#isProbing) {
      if (this.#isProbeOver(nowMs)) this.#endProbe(nowMs)
      return
    }
    if (this.#isProbeDue(nowMs)) {
      this.#startProbe(nowMs)
      return
    }
    const { startedAtMs, count } = this.#window
    const ageMs = nowMs - startedAtMs
    if (ageMs < WINDOW_MS || (count < MIN_SAMPLES && ageMs < LONGEST_WINDOW_MS)) return
    if (count > 0) this.#adjust(nowMs)
    this.#obeyLoop()
    if (!this.#hasDenied) this.#deniedSinceMs = undefined
    this.#hasDenied = false
    this.#window = windowAt(nowMs)
  }

  /**
   * Denials in the first second have a probe begin at once, since the baseline was then measured under load.
   * Later, it is known from a calm time.
   */
  #isProbeDue(nowMs: number): boolean {
    if (this.#deniedSinceMs === undefined || nowMs < this.#nextProbeAtMs) return false
    const { min, max, canProbe } = this.#options
    if (min === max || canProbe?.() === false) return false
    const isStart = this.#probes === 0 && this.#deniedSinceMs - (this.#firstMs ?? nowMs) < LASTING_MS
    return isStart || nowMs - this.#deniedSinceMs >= LASTING_MS
  }

  #startProbe(nowMs: number): void {
    this.#isProbing = true
    this.#probes++
    this.#epoch++
    this.#baselines.discard()
    this.#window = windowAt(nowMs)
  }

  #isProbeOver(nowMs: number): boolean {
    const { startedAtMs, count } = this.#window
    const ageMs = nowMs - startedAtMs
    if (count >= LARGEST_PROBE_SAMPLES || ageMs > ABANDON_PROBE_MS) return true
    if (count >= PROBE_SAMPLES && !this.#baselines.isUnsure) return true
    return ageMs > LONGEST_PROBE_MS && count >= MIN_SAMPLES
  }

  #endProbe(nowMs: number): void {
    this.#baselines.probe()
    this.#isProbing = false
    this.#epoch++
    this.#probedLimit = this.#limit
    const tookMs = nowMs - this.#window.startedAtMs
    const everyMs = Math.max(PROBE_EVERY_MS, 20 * tookMs)
    this.#nextProbeAtMs = nowMs + everyMs * (0.75 + 0.5 * this.#options.random())
    this.#window = windowAt(nowMs)
  }

  #adjust(nowMs: number): void {
    const { peak } = this.#window
    const { factor, count } = this.#baselines.observe()
    const gradient = clamp(this.#options.tolerance / factor, 0.5, 2)
    const next = this.#limit * gradient + Math.sqrt(this.#limit)
    if (next > this.#limit && peak < this.#limit / 2) return
    const step = (next - this.#limit) * (count / (count + HALF_WAY_SAMPLES))
    this.#limit = clamp(this.#limit + step, this.#options.min, this.#options.max)
    if (this.#limit >= this.#probedLimit / 2 || !this.#hasDenied) return
    this.#probedLimit = this.#limit
    this.#nextProbeAtMs = Math.min(this.#nextProbeAtMs, nowMs + PROBE_SOON_MS)
  }

  #obeyLoop(): void {
    const { loopDelayMs } = this.#window
    if (loopDelayMs === Number.POSITIVE_INFINITY || loopDelayMs <= MAX_LOOP_DELAY_MS) return
    const lowered = this.#limit * Math.max(0.5, MAX_LOOP_DELAY_MS / loopDelayMs)
    this.#limit = Math.max(this.#options.min, lowered)
  }
}

function windowAt(startedAtMs: number): Window {
  return { startedAtMs, count: 0, peak: 0, loopDelayMs: Number.POSITIVE_INFINITY }
}

const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value))
