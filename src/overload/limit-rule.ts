import type { Slowdown } from './baselines.js'
import type { Window } from './window.js'

/** The numbers of the rule for a limit. */
export interface LimitRuleOptions {
  /** The least limit after the first requests of the process have ended. Until then, the limit is `max`. */
  readonly initial: number
  /** The same for a process that turns out to be busy: by its event loop, its first queue, or its start. */
  readonly initialIfBusy: number
  /** The limit never falls below it, so that there are latencies to learn from. */
  readonly min: number
  readonly max: number
  /** The ratio of latency to baseline that counts as healthy. */
  readonly tolerance: number
}

/** What else is known about a window. */
export interface WindowFacts {
  readonly isSurge: boolean
  readonly hasDenied: boolean
}

/** A window with this many samples moves the limit half of the way. */
const HALF_WAY_SAMPLES = 20

/** A window multiplies the limit by these at least and at most, before it adds the square root. */
const LEAST_FACTOR = 0.5
const MOST_FACTOR = 2

/** The limit moves only if this share of it was used: up, and down. */
const GROWS_FROM = 0.5
const FALLS_FROM = 0.75

/**
 * At the end of the start, the limit is how many requests run, and this many standard deviations more, by
 * Poisson's distribution.
 */
const START_MARGIN = 4

/**
 * How the limit moves: by the rule of Envoy's adaptive concurrency filter. That multiplies it by `tolerance ×
 * baseline / latency`, between 0.5 and 2, and adds the square root of the limit for bursts. Differences:
 *
 * - A window with few samples moves the limit less.
 * - The limit does not grow while less than half of it is used (Netflix' Gradient2), nor fall while less
 *   than three quarters are: then no queue is as long as it, and requests take longer for another reason.
 * - A fall is undone as soon as requests are as fast as without a queue and none is denied, unless a probe
 *   has come since. The queue of a burst goes away by itself, and the limit would find its way back only
 *   slowly.
 * - The limit of the start is a guess until half of it is used without a queue. It is high, for bursts to a
 *   quiet server. Once the process is busy, it falls at once.
 */
export class LimitRule {
  readonly #options: LimitRuleOptions
  #limit: number
  /** The highest limit since the last probe that did for requests without a queue. */
  #calmLimit: number
  /** What a limit that is a guess may fall to at once. It grows by the same rule. */
  #busyLimit: number | undefined

  constructor(options: LimitRuleOptions) {
    this.#options = options
    this.#limit = this.#calmLimit = options.max
  }

  get limit(): number {
    return this.#limit
  }

  /** Whether nothing has proven the limit of the start yet. */
  get isGuess(): boolean {
    return this.#busyLimit !== undefined
  }

  /** Whether the limit has fallen by half without a probe. */
  get hasHalved(): boolean {
    return this.#limit < this.#calmLimit / 2
  }

  /** Sets the first limit, at the end of the start. `running` is how many requests run. */
  start(running: number): void {
    const { initial, initialIfBusy } = this.#options
    const needed = running + START_MARGIN * Math.sqrt(running)
    const busyLimit = this.#clamp(Math.max(initialIfBusy, needed))
    this.#limit = this.#calmLimit = this.#clamp(Math.max(initial, needed))
    this.#busyLimit = busyLimit < this.#limit ? busyLimit : undefined
  }

  /**
   * Begins a probe. If it is the first one of a process that was overloaded at its start, how many requests
   * ran then says nothing, so the limit starts anew.
   */
  startProbe(isFirst: boolean): void {
    if (isFirst) this.#limit = Math.min(this.#limit, this.#clamp(this.#options.initialIfBusy))
    this.#busyLimit = undefined
  }

  /**
   * Records that requests take this many times as long as before, by a probe. By Little's law, slower
   * requests need more places for the same work. So a limit that has fallen rises again.
   */
  endProbe(slower: number): void {
    this.#limit = Math.max(this.#limit, Math.min(this.#limit * slower, this.#calmLimit))
    this.#calmLimit = this.#limit
  }

  /** Records that the event loop was busy while `running` requests ran. This can only lower a guess. */
  recordBusyLoop(running: number): void {
    if (this.#busyLimit === undefined || running < this.#busyLimit) return
    this.#limit = Math.min(this.#limit, this.#busyLimit)
    this.#endIfWrong()
  }

  /**
   * Moves the limit by how much slower requests were in a window than without a queue. After a surge, a
   * window moves it all of the way: requests would be denied by the time that there are more samples. So
   * does one that shows that a guess is wrong.
   */
  move(window: Window, { factor, count }: Slowdown, { isSurge, hasDenied }: WindowFacts): void {
    const { peak, hasEnoughSamples, loopFactor } = window
    const weight = isSurge && hasEnoughSamples ? 1 : count / (count + HALF_WAY_SAMPLES)
    const next = this.#next(this.#limit, factor)
    const isFall = next < this.#limit
    const isCalm = factor <= this.#options.tolerance
    this.#growBusyLimit(peak, factor, weight)
    if (peak >= this.#limit * (isFall ? FALLS_FROM : GROWS_FROM)) {
      if (isCalm && !isSurge) this.#busyLimit = undefined
      const isWrong = isFall && hasEnoughSamples && this.isGuess
      this.#limit = this.#clamp(between(this.#limit, next, isWrong ? 1 : weight))
    }
    this.#endIfWrong()
    if (isCalm && !hasDenied && loopFactor === 1)
      this.#limit = this.#calmLimit = Math.max(this.#limit, this.#calmLimit)
  }

  #growBusyLimit(peak: number, factor: number, weight: number): void {
    const busyLimit = this.#busyLimit
    if (busyLimit === undefined || peak < busyLimit * GROWS_FROM) return
    const next = this.#next(busyLimit, factor)
    if (next > busyLimit) this.#busyLimit = this.#clamp(between(busyLimit, next, weight))
  }

  /** Lowers the limit if the event loop was late in all of a window, and most places were used. */
  followLoop({ peak, loopFactor }: Window): void {
    if (peak < this.#limit * FALLS_FROM) return
    this.#limit = this.#clamp(this.#limit * loopFactor)
    this.#endIfWrong()
  }

  /** Returns the next limit if requests take `factor` times as long as without a queue. */
  #next(limit: number, factor: number): number {
    const change = Math.min(MOST_FACTOR, Math.max(LEAST_FACTOR, this.#options.tolerance / factor))
    return limit * change + Math.sqrt(limit)
  }

  /** Ends a guess that has fallen as far as it may at once. It does not rise again by itself. */
  #endIfWrong(): void {
    if (this.#busyLimit === undefined || this.#limit > this.#busyLimit) return
    this.#calmLimit = Math.min(this.#calmLimit, this.#busyLimit)
    this.#busyLimit = undefined
  }

  #clamp(limit: number): number {
    return Math.min(this.#options.max, Math.max(this.#options.min, limit))
  }
}

const between = (from: number, to: number, weight: number) => from + (to - from) * weight
