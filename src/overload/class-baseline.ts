import { Sample } from './sample.js'

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
 * The mean latency of one class of routes without a queue, which it learns from windows of requests. All
 * classes have the same windows, so `Baselines` fills and clears them.
 */
export class ClassBaseline {
  readonly window = new Sample()
  /** Under load, since the last decision about the baseline. */
  readonly #observed = new Sample()
  /** Of the last probes. */
  readonly #probed = new Sample()
  /** Whether the last probe was so slow that another one has to confirm it. */
  #isInDoubt = false
  #baselineMs: number | undefined
  /** For this many more windows, the baseline follows the first requests, until there are enough of them. */
  #windowsToLearn: number
  /** When the first window with requests of this class closed. */
  #learningSinceMs: number | undefined

  /** Unless `canLearnUnderLoad` is true, there is no baseline until a probe has shown one. */
  constructor(canLearnUnderLoad: boolean) {
    this.#windowsToLearn = canLearnUnderLoad ? LEARNING_WINDOWS : 0
  }

  /** The baseline in milliseconds; `undefined` if it is not known yet. */
  get baselineMs(): number | undefined {
    return this.#baselineMs
  }

  /** Whether the window alone has enough samples of a probe. */
  get hasEnoughSamples(): boolean {
    return this.window.count >= MIN_PROBED
  }

  /** Whether the window has requests, but too few with those of the last probes. */
  get isUnsure(): boolean {
    const { count } = this.window
    return count > 0 && count + this.#probed.count < MIN_PROBED
  }

  /** Takes the first requests of the process as the baseline. */
  start(): void {
    this.#baselineMs = this.window.meanMs
    if (this.window.count >= ENOUGH_AT_START) this.#windowsToLearn = 0
    this.#observed.addAll(this.window)
  }

  /**
   * Learns from a window under any load, but only after the number of requests has been steady for long
   * enough, since before that only short requests have ended. It has been steady for `settledMs`.
   */
  observe(nowMs: number, settledMs: number): void {
    const isSettled = settledMs > SETTLED * Math.min(this.#baselineMs ?? 0, FAR * this.window.meanMs)
    if (!isSettled) return
    this.#observed.addAll(this.window)
    if (this.#windowsToLearn > 0) this.#learn(nowMs)
    else this.#fall()
  }

  /**
   * Learns from a probe at low concurrency. Each probe is small, so earlier ones count too unless latencies
   * have changed. The first one replaces what was learned under load. Returns false if the class has become
   * so much slower that the next probe has to confirm it. Until then, it keeps its baseline.
   */
  probe(isFirst: boolean): boolean {
    const { count, meanMs } = this.window
    const isSlow = count > 0 && meanMs > DOUBTFUL * (this.#baselineMs ?? Number.POSITIVE_INFINITY)
    this.#isInDoubt = isSlow && !this.#isInDoubt
    this.#observed.clear()
    if (this.#isInDoubt) return false
    this.#windowsToLearn = 0
    if (haveChanged(this.#probed, this.window)) this.#probed.clear()
    else if (this.#probed.count >= MAX_PROBED) this.#probed.halve()
    this.#probed.addAll(this.window)
    if (this.#probed.count >= MIN_PROBED) this.#baselineMs = this.#probed.meanMs
    else if (isFirst) this.#baselineMs = undefined
    return true
  }

  /**
   * Takes the mean of the first requests. One window is not enough, because the shortest requests end first.
   */
  #learn(nowMs: number): void {
    const { count, meanMs } = this.#observed
    this.#baselineMs = meanMs
    this.#learningSinceMs ??= nowMs
    this.#windowsToLearn = Math.max(1, this.#windowsToLearn - 1)
    const isSettled = nowMs - this.#learningSinceMs > SETTLED * meanMs
    if (!isSettled || (count < MIN_OBSERVED && this.#windowsToLearn > 1)) return
    this.#windowsToLearn = 0
    this.#observed.clear()
  }

  /** Lowers the baseline if requests surely take less time, even under load. */
  #fall(): void {
    if (this.#observed.count < MIN_OBSERVED) return
    const atMostMs = this.#observed.meanMs + SURE * this.#observed.errorMs
    if (atMostMs < (this.#baselineMs ?? 0)) {
      this.#baselineMs = atMostMs
      this.#probed.clear()
    }
    this.#observed.clear()
  }
}

/** Returns whether two samples differ by more than chance. */
function haveChanged(one: Sample, other: Sample): boolean {
  if (one.count < MIN_PROBED || other.count < MIN_PROBED) return false
  return Math.abs(one.meanMs - other.meanMs) > LIKELY * Math.hypot(one.errorMs, other.errorMs)
}
