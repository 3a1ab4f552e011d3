import type { State } from '../../policies/policy.js'

/** The most slots of a page: few enough to split it in a fraction of a millisecond. */
export const PAGE_SLOTS = 2048
/** A hash, two numbers, the time at which the state is fresh, and its mark. */
export const SLOT_BYTES = 8 + 16 + 4 + 1

/**
 * A hash table of a fixed size by `low`, with linear probing. It has the states of all hashes in a range,
 * which is number `prefix` of 2^`depth` parts. `low` is never 0.
 *
 * A state of two numbers is packed. Any other lies in an array beside the page, and NaN in place of its
 * second number says so. A state stays in its slot until a state is removed.
 */
export class Page {
  depth: number
  prefix: number
  states = 0
  /** How many slots there are, a power of two. */
  readonly slots: number
  /** For each slot `low` (0 = the slot is empty), `high`, and two words for each number of the state. */
  readonly #words: Int32Array
  /** The same bytes. For each slot: the hash, which is not a number, and the numbers of the state. */
  readonly #numbers: Float64Array
  readonly #freshAt: Float32Array
  readonly #marks: Uint8Array
  /** The states that are not packed, by slot. */
  #unpacked: (State | undefined)[] | undefined

  /** Creates an empty page, of at most full size. */
  constructor(depth: number, prefix: number, slots = PAGE_SLOTS) {
    this.depth = depth
    this.prefix = prefix
    this.slots = Math.min(slots, PAGE_SLOTS)
    const bytes = new ArrayBuffer(SLOT_BYTES * this.slots)
    this.#words = new Int32Array(bytes, 0, 6 * this.slots)
    this.#numbers = new Float64Array(bytes, 0, 3 * this.slots)
    this.#freshAt = new Float32Array(bytes, 24 * this.slots, this.slots)
    this.#marks = new Uint8Array(bytes, 28 * this.slots)
  }

  /** Returns the slot of a hash, or -1. */
  find(high: number, low: number): number {
    const words = this.#words
    const mask = this.slots - 1
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const found = words[6 * slot]
      if (found === low && words[6 * slot + 1] === high) return slot
      if (found === 0) return -1
    }
  }

  lowAt(slot: number): number {
    return this.#words[6 * slot] as number
  }

  highAt(slot: number): number {
    return this.#words[6 * slot + 1] as number
  }

  /** Returns the state in a slot. A packed one is read into `buffer`, an array of two numbers. */
  read(slot: number, buffer: [number, number]): State {
    const second = this.#numbers[3 * slot + 2] as number
    if (Number.isNaN(second)) return this.#unpacked?.[slot] as State
    buffer[0] = this.#numbers[3 * slot + 1] as number
    buffer[1] = second
    return buffer
  }

  /**
   * Writes a state into a slot, with the time at which it is fresh, which is rounded up to seven digits, and
   * its mark, a byte.
   */
  write(slot: number, state: State, freshAt: number, mark: number): void {
    const second = state[1] as number // by index: to destructure an array would make a decision slower
    const isPacked = state.length === 2 && !Number.isNaN(second)
    const rounded = Math.fround(freshAt)
    this.#numbers[3 * slot + 1] = state[0] as number
    this.#numbers[3 * slot + 2] = isPacked ? second : Number.NaN
    this.#freshAt[slot] = rounded < freshAt ? freshAt + Math.abs(freshAt) * 2 ** -23 : rounded
    this.#marks[slot] = mark
    if (!isPacked || this.#unpacked !== undefined)
      this.#setUnpacked(slot, isPacked ? undefined : doublesOf(state))
  }

  #setUnpacked(slot: number, state: State | undefined): void {
    this.#unpacked ??= new Array<undefined>(this.slots).fill(undefined)
    this.#unpacked[slot] = state
  }

  freshAt(slot: number): number {
    return this.#freshAt[slot] as number
  }

  markAt(slot: number): number {
    return this.#marks[slot] as number
  }

  /** Returns a slot for a hash that has none yet. The page must not be full. */
  add(high: number, low: number): number {
    let slot = low & (this.slots - 1)
    while (this.lowAt(slot) !== 0) slot = (slot + 1) & (this.slots - 1)
    this.#words[6 * slot] = low
    this.#words[6 * slot + 1] = high
    this.states++
    return slot
  }

  /** Empties a slot. States behind it that probing could not find any more move up. */
  remove(slot: number): void {
    const mask = this.slots - 1
    let hole = slot
    for (let i = (hole + 1) & mask; this.lowAt(i) !== 0; i = (i + 1) & mask) {
      const probed = (i - this.lowAt(i)) & mask
      if (probed < ((i - hole) & mask)) continue
      this.#copy(this, i, hole)
      hole = i
    }
    this.#words[6 * hole] = 0
    if (this.#unpacked !== undefined) this.#unpacked[hole] = undefined
    this.states--
  }

  /** Moves a state to another page. */
  moveTo(to: Page, slot: number): void {
    to.#copy(this, slot, to.add(this.highAt(slot), this.lowAt(slot)))
    this.remove(slot)
  }

  #copy(from: Page, fromSlot: number, slot: number): void {
    // Word by word: a hash that is copied as a double may change.
    for (let i = 0; i < 6; i++) this.#words[6 * slot + i] = from.#words[6 * fromSlot + i] as number
    this.#freshAt[slot] = from.#freshAt[fromSlot] as number
    this.#marks[slot] = from.#marks[fromSlot] as number
    const state = from.#unpacked?.[fromSlot]
    if (state !== undefined || this.#unpacked !== undefined) this.#setUnpacked(slot, state)
  }
}

/** Returns a copy of a state. V8 keeps it as an array of doubles, whatever numbers the state began with. */
function doublesOf(state: State): State {
  const copy = new Array<number>(state.length).fill(0.5)
  for (let i = 0; i < copy.length; i++) copy[i] = state[i] as number
  return copy
}
