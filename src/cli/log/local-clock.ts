import type { TimeZone } from '../../util/time-zone.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Zones change their offset only at multiples of this length. */
const QUARTER_MS = HOUR_MS / 4
/** A request that is logged when it ends comes no later than this, as a rule. */
const USUAL_LATE_MS = 60_000
/** How many of its usual gaps a log may be silent for. */
const USUAL_GAPS = 4
/** How many of the last gaps count. */
const AVERAGED_GAPS = 8

/** A time that named no zone. */
export interface LocalTime {
  /** What clocks showed, as if it were in UTC. */
  readonly localMs: number
  /** Whether they show it twice. */
  readonly isRepeated: boolean
}

/** Reads the times of one log that name no zone. */
export class LocalClock {
  readonly #zone: TimeZone
  /** The quarter of an hour that was read last, and how far the zone may be ahead of UTC in it. */
  #quarter = Number.NaN
  #offsets: readonly number[] = []
  /** The time of the line that was read last. */
  #utcMs = Number.NaN
  #localMs = Number.NaN
  /** The newest time of the log, and how long it is between two of them, on average of the last ones. */
  #newestMs = Number.NEGATIVE_INFINITY
  #usualGapMs = 0

  constructor(zone: TimeZone) {
    this.#zone = zone
  }

  /** Begins a line. */
  begin(): void {
    this.#utcMs = Number.NaN
  }

  /** Returns a time that clocks show in the zone. One that clocks skip is later. */
  toUtc(localMs: number): number {
    const quarter = Math.floor(localMs / QUARTER_MS)
    if (quarter !== this.#quarter) {
      this.#quarter = quarter
      this.#offsets = this.#offsetsAt(localMs)
    }
    const [first = 0, second] = this.#offsets
    this.#localMs = localMs
    this.#utcMs = second === undefined ? localMs - first : this.#chosen(localMs - first, localMs - second)
    return this.#utcMs
  }

  /** Returns what clocks showed at the time of the line; `undefined` if that named its zone. */
  shownAt(utcMs: number): LocalTime | undefined {
    if (utcMs !== this.#utcMs) return undefined
    return { localMs: this.#localMs, isRepeated: this.#offsets.length > 1 }
  }

  /** Takes the next time of the log, in UTC. */
  add(utcMs: number): void {
    const gapMs = utcMs - this.#newestMs
    if (gapMs < 0) return
    this.#newestMs = utcMs
    if (gapMs < DAY_MS) this.#usualGapMs += (gapMs - this.#usualGapMs) / AVERAGED_GAPS
  }

  /**
   * Returns one of the two moments at which clocks show the same, at the end of summer time: the one nearer to
   * the newest time of the log. But the clock of a log that is often silent is rarely set back.
   */
  #chosen(earlierMs: number, laterMs: number): number {
    const backMs = this.#newestMs - earlierMs
    const aheadMs = laterMs - this.#newestMs
    if (backMs > USUAL_LATE_MS && aheadMs <= USUAL_GAPS * this.#usualGapMs) return laterMs
    return aheadMs < backMs ? laterMs : earlierMs
  }

  /** Returns one offset, or two with that of summer time first. */
  #offsetsAt(localMs: number): readonly number[] {
    const before = this.#zone.offsetAt(localMs - DAY_MS)
    const after = this.#zone.offsetAt(localMs + DAY_MS)
    const shown = [before, after].filter((offset) => this.#zone.offsetAt(localMs - offset) === offset)
    if (shown.length === 0) return [before]
    return before === after ? [before] : shown
  }
}
