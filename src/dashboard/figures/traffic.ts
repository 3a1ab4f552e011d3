import type { PastSlots, TrafficReport } from './report.js'

/** The length of a slot. Slots of all processes begin at the same times, so that they can be added up. */
export const SLOT_MS = 10_000
/** Slots of 15 minutes. */
export const CHART_SLOTS = 90
/** Slots of a minute. */
export const MINUTE_SLOTS = 6

/** What the last slots have together. */
export interface TrafficSum {
  readonly allowed: number
  readonly denied: number
  /** The largest share of a limit that was used: from 0 to 1. */
  readonly peak: number
}

/** Counts decisions in the latest slots of time. */
export class Traffic {
  readonly #allowed: Uint32Array
  readonly #denied: Uint32Array
  readonly #peaks: Float32Array
  #lastSlot: number
  #startedMs: number
  #past: PastSlots | undefined

  /** Keeps `slots` slots, from `nowMs` on. */
  constructor(slots: number, nowMs: number) {
    this.#allowed = new Uint32Array(slots)
    this.#denied = new Uint32Array(slots)
    this.#peaks = new Float32Array(slots)
    this.#lastSlot = Math.floor(nowMs / SLOT_MS)
    this.#startedMs = nowMs
  }

  /**
   * Counts a decision, with the share of its limit that is used. A clock that steps back counts in the last
   * slot.
   */
  count(nowMs: number, allowed: boolean, share: number): void {
    this.#advance(nowMs)
    const at = this.#lastSlot % this.#allowed.length
    const counts = allowed ? this.#allowed : this.#denied
    counts[at] = (counts[at] ?? 0) + 1
    if (share > (this.#peaks[at] ?? 0)) this.#peaks[at] = share
  }

  sum(nowMs: number): TrafficSum {
    this.#advance(nowMs)
    const peak = this.#peaks.reduce((a, b) => Math.max(a, b))
    return { allowed: sumOf(this.#allowed), denied: sumOf(this.#denied), peak }
  }

  report(nowMs: number): TrafficReport {
    this.#advance(nowMs)
    const sinceMs = Math.max(this.#startedMs, (this.#lastSlot - MINUTE_SLOTS + 1) * SLOT_MS)
    const seconds = Math.max(1, (nowMs - sinceMs) / 1000)
    this.#past ??= { allowed: this.#pastOf(this.#allowed), denied: this.#pastOf(this.#denied) }
    const at = this.#lastSlot % this.#allowed.length
    const report = {
      lastSlot: this.#lastSlot,
      allowed: this.#allowed[at] ?? 0,
      denied: this.#denied[at] ?? 0,
      past: this.#past,
    }
    const { allowed, denied } = lastMinute(report)
    return { ...report, perSecond: { allowed: allowed / seconds, denied: denied / seconds } }
  }

  /** Returns the slots of a ring that are over, the oldest first. A loop: typed arrays are slow to spread. */
  #pastOf(ring: Uint32Array): number[] {
    const counts: number[] = []
    for (let i = 1; i < ring.length; i++) counts.push(ring[(this.#lastSlot + i) % ring.length] ?? 0)
    return counts
  }

  /** Empties the slots that have begun since the last one; all of them if the clock was far ahead before. */
  #advance(nowMs: number): void {
    const slot = Math.floor(nowMs / SLOT_MS)
    const length = this.#allowed.length
    if (slot <= this.#lastSlot - length) {
      this.#lastSlot = slot - length
      this.#startedMs = nowMs
    }
    for (let i = Math.max(this.#lastSlot + 1, slot - length + 1); i <= slot; i++) {
      const at = i % length
      this.#allowed[at] = 0
      this.#denied[at] = 0
      this.#peaks[at] = 0
    }
    if (slot <= this.#lastSlot) return
    this.#lastSlot = slot
    this.#past = undefined
  }
}

/** Returns what the slots of the last minute have. */
export function lastMinute({
  allowed,
  denied,
  past,
}: Pick<TrafficReport, 'allowed' | 'denied' | 'past'>): Pick<TrafficReport, 'allowed' | 'denied'> {
  const from = past.allowed.length + 1 - MINUTE_SLOTS
  return { allowed: allowed + sumOf(past.allowed, from), denied: denied + sumOf(past.denied, from) }
}

/** Returns all slots, the oldest first, the last one still open. */
export function allSlots({ allowed, denied, past }: TrafficReport) {
  return { allowed: [...past.allowed, allowed], denied: [...past.denied, denied] }
}

function sumOf(counts: ArrayLike<number>, from = 0): number {
  let sum = 0
  for (let i = Math.max(0, from); i < counts.length; i++) sum += counts[i] ?? 0
  return sum
}
