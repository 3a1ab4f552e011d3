import type { LocalTime } from '../log/local-clock.js'
import { SetBack } from './set-back.js'

const HOUR_MS = 3_600_000
/** How many hours are kept: two zones of the same log repeat no more in years. */
const MAX_HOURS = 100

/** An hour that clocks show twice, at the end of summer time, as if it were in UTC. */
export interface RepeatedHour {
  readonly startsAtMs: number
  readonly requests: number
  /** Whether the two are not told apart, since the zone does not have the hour twice. */
  readonly isMerged: boolean
}

/** What the times that named no zone show: the hours that clocks show twice. */
export class LocalTimes {
  /** Whether any time named no zone. */
  isAny = false
  readonly #hours = new Map<number, number>()
  readonly #setBacks = new Map<object, SetBack>()

  /** Counts a request of a log. */
  add({ localMs, isRepeated }: LocalTime, timeMs: number, log: object): void {
    this.isAny = true
    this.#setBackOf(log).add(timeMs)
    if (!isRepeated) return
    const startsAtMs = startOfHour(localMs)
    const requests = this.#hours.get(startsAtMs) ?? 0
    if (requests > 0 || this.#hours.size < MAX_HOURS) this.#hours.set(startsAtMs, requests + 1)
  }

  #setBackOf(log: object): SetBack {
    const existing = this.#setBacks.get(log)
    if (existing !== undefined) return existing
    const setBack = new SetBack()
    this.#setBacks.set(log, setBack)
    return setBack
  }

  /** Returns the hours. Ends the logs. */
  repeatedHours(): RepeatedHour[] {
    const apart = [...this.#hours].map(([startsAtMs, requests]) => ({
      startsAtMs,
      requests,
      isMerged: false,
    }))
    const merged = new Map<number, number>()
    for (const setBack of this.#setBacks.values()) {
      setBack.end()
      for (const { oldestMs, requests } of setBack.found)
        merged.set(startOfHour(oldestMs), (merged.get(startOfHour(oldestMs)) ?? 0) + requests)
    }
    return [
      ...apart,
      ...[...merged].map(([startsAtMs, requests]) => ({ startsAtMs, requests, isMerged: true })),
    ]
  }
}

function startOfHour(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS
}
