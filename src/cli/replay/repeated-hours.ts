const HOUR_MS = 3_600_000
/** How many hours are kept: two zones of the same log repeat no more in years. */
const MAX_HOURS = 100

/** An hour that clocks show twice, at the end of summer time, as if it were in UTC. */
export interface RepeatedHour {
  readonly startsAtMs: number
  readonly requests: number
}

/** Counts the times in each hour that clocks show twice. */
export class RepeatedHours {
  /** Whether any time named no zone. */
  hasLocalTimes = false
  readonly #hours = new Map<number, number>()

  add(localMs: number): void {
    const startsAtMs = Math.floor(localMs / HOUR_MS) * HOUR_MS
    const requests = this.#hours.get(startsAtMs) ?? 0
    if (requests > 0 || this.#hours.size < MAX_HOURS) this.#hours.set(startsAtMs, requests + 1)
  }

  list(): RepeatedHour[] {
    return [...this.#hours].map(([startsAtMs, requests]) => ({ startsAtMs, requests }))
  }
}
