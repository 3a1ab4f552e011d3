import type { State } from '../../policies/policy.js'

/** The most slots of a page: few enough to split it in a fraction of a millisecond. */
export const PAGE_SLOTS = 2048
/**
 * A slot is half a cache line, and lies within one, so that a decision waits for memory once:
 *
 *     byte 0      4       8                 16                24          28
 *       `low`   `high`   first number     second number     fresh at     mark
 */
export const SLOT_BYTES = 32
const WORDS = SLOT_BYTES / 4
const NUMBERS = SLOT_BYTES / 8

/**
 * A hash table of a fixed size by `low`, with linear probing. It has the states of all hashes in a range,
 * which is number `prefix` of 2^`depth` parts. `low` is never 0, and an empty slot has 0.
 *
 * A state of two numbers is packed. Any other lies in an array beside the page, and NaN in place of its
 * second number says so. A state stays in its slot until a state is removed.
 */
export class Page {
  depth: number
  prefix: number
  states = 0
  readonly slots: number
  /** How many slots there are for each value of `low`. */
  readonly #density: number
  /** Three views of the same bytes. */
  readonly #words: Int32Array
  readonly #numbers: Float64Array
  readonly #floats: Float32Array
  /** The states that are not packed, by slot. */
  #unpacked: (State | undefined)[] | undefined

  /** Creates an empty page, of at most full size. */
  constructor(depth: number, prefix: number, slots = PAGE_SLOTS) {
    this.depth = depth
    this.prefix = prefix
    this.slots = Math.min(slots, PAGE_SLOTS)
    this.#density = this.slots / 2 ** 32
    const bytes = new ArrayBuffer(SLOT_BYTES * this.slots)
    this.#words = new Int32Array(bytes)
    this.#numbers = new Float64Array(bytes)
    this.#floats = new Float32Array(bytes)
  }

  /** Returns the slot of a hash, or -1. */
  find(high: number, low: number): number {
    const words = this.#words
    let slot = this.#homeOf(low)
    for (;;) {
      const found = words[WORDS * slot]
      if (found === low && words[WORDS * slot + 1] === high) return slot
      if (found === 0) return -1
      if (++slot === this.slots) slot = 0
    }
  }

  /** Returns the slot where probing for a hash begins. */
  #homeOf(low: number): number {
    return ((low >>> 0) * this.#density) | 0
  }

  lowAt(slot: number): number {
    return this.#words[WORDS * slot] as number
  }

  highAt(slot: number): number {
    return this.#words[WORDS * slot + 1] as number
  }

  /** Returns the state in a slot. A packed one is read into `buffer`, an array of two numbers. */
  read(slot: number, buffer: [number, number]): State {
    const second = this.#numbers[NUMBERS * slot + 2] as number
    if (Number.isNaN(second)) return this.#unpacked?.[slot] as State
    buffer[0] = this.#numbers[NUMBERS * slot + 1] as number
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
    this.#numbers[NUMBERS * slot + 1] = state[0] as number
    this.#numbers[NUMBERS * slot + 2] = isPacked ? second : Number.NaN
    this.#floats[WORDS * slot + 6] = rounded < freshAt ? freshAt + Math.abs(freshAt) * 2 ** -23 : rounded
    this.#words[WORDS * slot + 7] = mark
    if (!isPacked || this.#unpacked !== undefined)
      this.#setUnpacked(slot, isPacked ? undefined : doublesOf(state))
  }

  #setUnpacked(slot: number, state: State | undefined): void {
    this.#unpacked ??= new Array<undefined>(this.slots).fill(undefined)
    this.#unpacked[slot] = state
  }

  freshAt(slot: number): number {
    return this.#floats[WORDS * slot + 6] as number
  }

  markAt(slot: number): number {
    return this.#words[WORDS * slot + 7] as number
  }

  /** Returns a slot for a hash that has none yet. The page must not be full. */
  add(high: number, low: number): number {
    let slot = this.#homeOf(low)
    while (this.lowAt(slot) !== 0) slot = (slot + 1) % this.slots
    this.#words[WORDS * slot] = low
    this.#words[WORDS * slot + 1] = high
    this.states++
    return slot
  }

  /** Empties a slot. States behind it that probing could not find any more move up. */
  remove(slot: number): void {
    const { slots } = this
    let hole = slot
    for (let i = (hole + 1) % slots; this.lowAt(i) !== 0; i = (i + 1) % slots) {
      const probed = (i + slots - this.#homeOf(this.lowAt(i))) % slots
      if (probed < (i + slots - hole) % slots) continue
      this.#copy(this, i, hole)
      hole = i
    }
    this.#words[WORDS * hole] = 0
    if (this.#unpacked !== undefined) this.#unpacked[hole] = undefined
    this.states--
  }

  /** Moves a state to another page. */
  moveTo(to: Page, slot: number): void {
    to.#copy(this, slot, to.add(this.highAt(slot), this.lowAt(slot)))
    this.remove(slot)
  }

  #copy(from: Page, fromSlot: number, slot: number): void {
    copyWords(from.#words, WORDS * fromSlot, this.#words, WORDS * slot)
    const state = from.#unpacked?.[fromSlot]
    if (state !== undefined || this.#unpacked !== undefined) this.#setUnpacked(slot, state)
  }

  /** Returns the state in a slot, unless it is packed. */
  unpackedAt(slot: number): State | undefined {
    return this.#unpacked?.[slot]
  }

  /** Copies a slot to `words`, from `at` on. */
  save(slot: number, words: Int32Array, at: number): void {
    copyWords(this.#words, WORDS * slot, words, at)
  }

  /** Adds a saved slot, and its state unless that is packed. The page must not be full. */
  load(words: Int32Array, at: number, state: State | undefined): void {
    const slot = this.add(words[at + 1] as number, words[at] as number)
    copyWords(words, at, this.#words, WORDS * slot)
    if (state !== undefined || this.#unpacked !== undefined) this.#setUnpacked(slot, state)
  }
}

/** Copies the bytes of a slot word by word: a hash that is copied as a double may change. */
function copyWords(from: Int32Array, fromWord: number, to: Int32Array, word: number): void {
  for (let i = 0; i < WORDS; i++) to[word + i] = from[fromWord + i] as number
}

/** Returns a copy of a state. V8 keeps it as an array of doubles, whatever numbers the state began with. */
function doublesOf(state: State): State {
  const copy = new Array<number>(state.length).fill(0.5)
  for (let i = 0; i < copy.length; i++) copy[i] = state[i] as number
  return copy
}
