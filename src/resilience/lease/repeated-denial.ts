import type { PartVerdict, Verdict } from '../../stores/store.js'
import { aged } from '../aged.js'

/** For which share of the hold a denial is repeated at least: so long an overloaded key does not ask again for each few units. */
const PAUSE_SHARE = 1 / 20

/** The store's last denial of a cost, which is repeated until the store said that units are there, though not for longer than the hold. */
export class RepeatedDenial {
  readonly #cost: number
  readonly #verdict: Verdict
  readonly #figures: PartVerdict
  /** When the store was asked. */
  readonly #sentAtMs: number
  readonly #untilMs: number

  constructor(cost: number, verdict: Verdict, sentAtMs: number, nowMs: number, holdMs: number) {
    const figures = verdict.parts[0] as PartVerdict
    this.#cost = cost
    this.#verdict = verdict
    this.#figures = figures
    this.#sentAtMs = sentAtMs
    this.#untilMs = Math.max(sentAtMs + Math.min(figures.retryAfterMs, holdMs), nowMs + holdMs * PAUSE_SHARE)
  }

  /** Denies the same cost again, while that holds. */
  repeat(cost: number, nowMs: number): Verdict | undefined {
    if (cost !== this.#cost || nowMs >= this.#untilMs) return undefined
    const ageMs = nowMs - this.#sentAtMs
    const retryAfterMs = Math.max(this.#untilMs - nowMs, this.#figures.retryAfterMs - ageMs)
    const figures = { ...aged(this.#figures, ageMs), retryAfterMs }
    return { allowed: false, source: 'lease', atMs: this.#verdict.atMs + ageMs, parts: [figures] }
  }
}
