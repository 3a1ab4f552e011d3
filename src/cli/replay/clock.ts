import { isoTime, timeText } from '../output.js'

/** The newest time of a replay, which never goes back, and the line that it is from. */
export class Clock {
  /** In milliseconds; -Infinity before the first request. */
  newestMs = Number.NEGATIVE_INFINITY
  #file = ''
  #line = 0

  get isStarted(): boolean {
    return this.newestMs !== Number.NEGATIVE_INFINITY
  }

  /** Returns by how much a time is behind; 0 if it moves the clock. */
  advance(timeMs: number, file: string, line: number): number {
    if (timeMs < this.newestMs) return this.newestMs - timeMs
    this.newestMs = timeMs
    this.#file = file
    this.#line = line
    return 0
  }

  /** Returns where the newest time is, as messages say it: such a line may have a wrong time. */
  describe(): string {
    return `${this.#file}, line ${this.#line}, is from ${timeText(isoTime(this.newestMs))}`
  }
}
