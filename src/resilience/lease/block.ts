import type { Prepaid } from '../../policies/prepaid.js'
import type { KeyedPolicy, PartVerdict, Refund, Verdict } from '../../stores/store.js'
import { aged } from '../aged.js'

/** How long ago a block was asked for, at the longest: by this process's clock, in milliseconds. */
type AgeMs = number

/**
 * Units of a key that were taken from the store ahead of their use. The store's time is reckoned from when they were asked for, which
 * was before they were taken: so none is used later than it may be.
 */
export class Block {
  readonly #held: KeyedPolicy
  readonly #prepaid: Prepaid
  readonly #holdMs: number
  readonly #takenAtMs: number
  readonly #resetAtMs: number
  /** The figures as the store told them when they had been taken. */
  readonly #figures: PartVerdict
  #left: number

  constructor(held: KeyedPolicy, prepaid: Prepaid, holdMs: number, units: number, { atMs, parts }: Verdict) {
    const figures = parts[0] as PartVerdict
    this.#held = held
    this.#prepaid = prepaid
    this.#holdMs = holdMs
    this.#takenAtMs = atMs
    this.#resetAtMs = atMs + figures.resetAfterMs
    this.#figures = figures
    this.#left = units
  }

  /** Hands out units, if so many may be used. */
  use(cost: number, ageMs: AgeMs): Verdict | undefined {
    const usable = this.usableAt(ageMs)
    if (cost > usable) return undefined
    this.#left = usable - cost
    const remaining = this.#figures.remaining + this.#left
    const figures = { ...aged(this.#figures, ageMs), allowed: true, retryAfterMs: 0, remaining }
    return { allowed: true, source: 'lease', atMs: this.#takenAtMs + ageMs, parts: [figures] }
  }

  usableAt(ageMs: AgeMs): number {
    if (this.#left === 0 || ageMs >= this.#holdMs) return 0
    return this.#prepaid.usable(this.#left, this.#takenAtMs + ageMs, this.#takenAtMs, this.#resetAtMs)
  }

  /** Ends it. Gives what gives back the units that are left; nothing where they come back by themselves. */
  end(ageMs: AgeMs): Refund | undefined {
    const resetAtMs = this.#resetAtMs
    const cost = this.#prepaid.returnable(this.#left, this.#takenAtMs + ageMs, this.#holdMs, resetAtMs)
    this.#left = 0
    return cost === 0 ? undefined : { ...this.#held, cost, takenAtMs: this.#takenAtMs, resetAtMs }
  }
}
