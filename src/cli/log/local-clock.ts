import type { TimeZone } from '../../util/time-zone.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Zones change their offset only at multiples of this length. */
const QUARTER_MS = HOUR_MS / 4

/** Reads the times of one log that name no zone. */
export class LocalClock {
  readonly #zone: TimeZone
  readonly #newestMs: () => number
  readonly #onRepeated: (localMs: number) => void
  /** The quarter of an hour that was read last, and how far the zone may be ahead of UTC in it. */
  #quarter = Number.NaN
  #offsets: readonly number[] = []

  /** `newestMs` returns the newest time of the log, in UTC. `onRepeated` gets each time that clocks show twice. */
  constructor(zone: TimeZone, newestMs: () => number, onRepeated: (localMs: number) => void) {
    this.#zone = zone
    this.#newestMs = newestMs
    this.#onRepeated = onRepeated
  }

  /**
   * Returns a time that clocks show in the zone. Of the two moments at which clocks show the same, at the end
   * of summer time, it is the one nearer to the newest time of the log; a time that clocks skip is later.
   */
  toUtc(localMs: number): number {
    const quarter = Math.floor(localMs / QUARTER_MS)
    if (quarter !== this.#quarter) {
      this.#quarter = quarter
      this.#offsets = this.#offsetsAt(localMs)
    }
    const [first = 0, second] = this.#offsets
    if (second === undefined) return localMs - first
    this.#onRepeated(localMs)
    const [earlierMs, laterMs] = [localMs - first, localMs - second]
    const newestMs = this.#newestMs()
    return laterMs - newestMs < newestMs - earlierMs ? laterMs : earlierMs
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
