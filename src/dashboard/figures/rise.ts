import { MINUTE_SLOTS, SLOT_MS } from './traffic.js'

/** With fewer than this share of what they are now, events were not yet what they are. */
export const RISE_SHARE = 0.25
/** Counts are below the last power of 2. */
const POWERS = 32

/**
 * Tells since when events are about as frequent as now, however long ago that was. For each power of 2 it remembers
 * the first event after the last minute that had fewer events. Minutes end with each slot.
 */
export class Rise {
  readonly #slots = new Uint32Array(MINUTE_SLOTS)
  #lastSlot = Number.NEGATIVE_INFINITY
  /** When the first event of the last slot was. */
  #firstMs: number | undefined
  /** By power: the first event since a minute with fewer ended, or since its last slot began; `undefined` if none was since. */
  readonly #sinceMs = Array<number | undefined>(POWERS).fill(undefined)

  count(nowMs: number): void {
    this.#advance(Math.floor(nowMs / SLOT_MS))
    const at = this.#lastSlot % MINUTE_SLOTS
    this.#slots[at] = (this.#slots[at] ?? 0) + 1
    if (this.#firstMs !== undefined) return
    this.#firstMs = nowMs
    for (let power = POWERS - 1; power >= 0 && this.#sinceMs[power] === undefined; power--)
      this.#sinceMs[power] = nowMs
  }

  /** Returns how many events the minute until the end of a slot had. */
  inMinute(nowMs: number): number {
    const passed = Math.max(0, Math.floor(nowMs / SLOT_MS) - this.#lastSlot)
    let sum = 0
    for (let back = 0; back < MINUTE_SLOTS - passed; back++)
      sum += this.#slots[(this.#lastSlot - back) % MINUTE_SLOTS] ?? 0
    return sum
  }

  /** Returns since when events were as frequent as in the minute of the last one; `undefined` if there was none. */
  sinceMs(): number | undefined {
    const share = RISE_SHARE * this.inMinute(this.#lastSlot * SLOT_MS)
    return this.#sinceMs[share < 1 ? 0 : Math.floor(Math.log2(share))]
  }

  /** Ends the slots before `slot`. A clock that steps back a little goes on in the last one. */
  #advance(slot: number): void {
    if (slot <= this.#lastSlot && slot > this.#lastSlot - MINUTE_SLOTS) return
    if (Math.abs(slot - this.#lastSlot) > MINUTE_SLOTS) this.#begin(slot - 1)
    while (this.#lastSlot < slot) this.#endSlot()
  }

  #endSlot(): void {
    const count = this.inMinute(this.#lastSlot * SLOT_MS)
    for (let power = POWERS - 1; power >= 0 && 2 ** power > count; power--)
      this.#sinceMs[power] = this.#firstMs
    this.#lastSlot++
    this.#slots[this.#lastSlot % MINUTE_SLOTS] = 0
    this.#firstMs = undefined
  }

  #begin(slot: number): void {
    this.#slots.fill(0)
    this.#lastSlot = slot
    this.#firstMs = undefined
  }
}
