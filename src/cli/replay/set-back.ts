const MINUTE_MS = 60_000
/** About how far a clock is set back at the end of summer time. */
const MIN_BACK_MS = 30 * MINUTE_MS
const MAX_BACK_MS = 61 * MINUTE_MS
/** If the clock was set back, this many requests, and this share of those that follow, are far back. */
const MIN_FAR = 3
const MIN_FAR_SHARE = 1 / 3
/** Of those that follow, at most this share is out of order, as if requests came late one by one. */
const MAX_DISORDER = 0.1

/** Requests one after the other none of which is newer than one before them. */
interface Run {
  requests: number
  /** Those that are far back, and those out of order. */
  far: number
  disorder: number
  oldestMs: number
  lastMs: number
}

/** An hour that a log has twice, and the requests in the second of them. */
export interface SecondHour {
  readonly oldestMs: number
  readonly requests: number
}

/**
 * Finds where the clock of a log was set back by an hour: its times jump back by about an hour, and go on from
 * there. They named no zone, or the wrong one.
 */
export class SetBack {
  readonly found: SecondHour[] = []
  #newestMs = Number.NEGATIVE_INFINITY
  #run: Run | undefined

  /** Takes the next time of the log. */
  add(timeMs: number): void {
    if (timeMs > this.#newestMs) {
      this.end()
      this.#newestMs = timeMs
    } else if (timeMs < this.#newestMs || this.#run !== undefined) this.#goBack(timeMs)
  }

  #goBack(timeMs: number): void {
    this.#run ??= { requests: 0, far: 0, disorder: 0, oldestMs: timeMs, lastMs: timeMs }
    const run = this.#run
    run.requests++
    if (this.#newestMs - timeMs >= MIN_BACK_MS) run.far++
    if (run.far > 1 && timeMs < run.lastMs - MINUTE_MS) run.disorder++
    run.oldestMs = Math.min(run.oldestMs, timeMs)
    run.lastMs = timeMs
  }

  /** Ends the log. */
  end(): void {
    const run = this.#run
    this.#run = undefined
    if (run === undefined || run.far < MIN_FAR || run.far < MIN_FAR_SHARE * run.requests) return
    if (run.disorder > MAX_DISORDER * run.requests || this.#newestMs - run.oldestMs > MAX_BACK_MS) return
    this.found.push({ oldestMs: run.oldestMs, requests: run.requests })
  }
}
