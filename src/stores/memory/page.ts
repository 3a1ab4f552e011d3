import type { State } from '../../policies/policy.js'
import { WideStates } from './wide-states.js'

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
/** Wide states get room for more of them by this factor. */
const WIDE_GROWTH = 1.5
/** A state that has grown gets more room by this factor, so that few charges of a log move it. */
const STATE_GROWTH = 1.25

/**
 * A hash table of a fixed size by `low`, with linear probing. It has the states of all hashes in a range,
 * which is number `prefix` of 2^`depth` parts. `low` is never 0, and an empty slot has 0.
 *
 * A state of two numbers is packed. Any other is wide: it lies beside the page, with its position there as the
 * first number, and NaN as the second. A state stays in its slot until a state is removed.
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
  #wide: WideStates | undefined
  /** How many numbers wide states will take soon. */
  #expected = 0

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
    const first = this.#numbers[NUMBERS * slot + 1] as number
    const second = this.#numbers[NUMBERS * slot + 2] as number
    if (Number.isNaN(second)) return (this.#wide as WideStates).read(first)
    buffer[0] = first
    buffer[1] = second
    return buffer
  }

  /**
   * Writes a state into a slot, with the time at which it is fresh, which is rounded up to seven digits, and
   * its mark, a byte.
   */
  write(slot: number, state: State, freshAt: number, mark: number): void {
    const rounded = Math.fround(freshAt)
    this.#floats[WORDS * slot + 6] = rounded < freshAt ? freshAt + Math.abs(freshAt) * 2 ** -23 : rounded
    this.#words[WORDS * slot + 7] = mark
    const second = state[1] as number // by index: to destructure an array would make a decision slower
    const isPacked = state.length === 2 && !Number.isNaN(second)
    const wasWide = this.isWide(slot)
    let room = state.length
    if (wasWide) {
      const position = this.#positionAt(slot)
      if (!isPacked && this.#wide?.replace(position, state)) return
      if (room > (this.#wide as WideStates).lengthAt(position)) room = Math.ceil(STATE_GROWTH * room)
      this.#removeWide(slot)
    }
    if (!isPacked) this.#addWide(slot, state, 0, state.length, room)
    else {
      this.#numbers[NUMBERS * slot + 1] = state[0] as number
      this.#numbers[NUMBERS * slot + 2] = second
    }
    if (wasWide) this.#shrinkWide()
  }

  isWide(slot: number): boolean {
    return Number.isNaN(this.#numbers[NUMBERS * slot + 2])
  }

  /** Returns where the wide state of a slot is. */
  #positionAt(slot: number): number {
    return this.#numbers[NUMBERS * slot + 1] as number
  }

  /** Gives a slot without a state the wide one that begins in `from` at `start`, with room for it to grow. */
  #addWide(slot: number, from: ArrayLike<number>, start: number, length: number, room = length): void {
    this.#numbers[NUMBERS * slot + 2] = 0
    const wide = this.#wide?.hasRoomFor(room) ? this.#wide : this.#renewWide(WideStates.sizeOf(room))
    this.#numbers[NUMBERS * slot + 1] = wide.add(from, start, length, room)
    this.#numbers[NUMBERS * slot + 2] = Number.NaN
  }

  #removeWide(slot: number): void {
    this.#wide?.remove(this.#positionAt(slot))
    this.#numbers[NUMBERS * slot + 2] = 0
  }

  /** Moves all wide states to a place with room for so many numbers more. */
  #renewWide(wanted: number): WideStates {
    const before = this.#wide
    const grown = Math.ceil(WIDE_GROWTH * ((before?.used ?? 0) + wanted))
    const wide = new WideStates(Math.max(grown, this.#expected))
    this.#expected = 0
    for (let slot = 0; before !== undefined && slot < this.slots; slot++) {
      if (this.lowAt(slot) !== 0 && this.isWide(slot))
        this.#numbers[NUMBERS * slot + 1] = before.copyTo(wide, this.#positionAt(slot))
    }
    this.#wide = wide
    return wide
  }

  /** Frees the room of wide states that were removed. */
  #shrinkWide(): void {
    if (this.#wide?.used === 0) this.#wide = undefined
    else if (this.#wide?.isSparse) this.#renewWide(0)
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
    this.#numbers[NUMBERS * slot + 2] = 0 // not NaN, which may be left of a state before
    this.states++
    return slot
  }

  /** Empties a slot. States behind it that probing could not find any more move up. */
  remove(slot: number): void {
    const { slots } = this
    if (this.isWide(slot)) this.#removeWide(slot)
    let hole = slot
    for (let i = (hole + 1) % slots; this.lowAt(i) !== 0; i = (i + 1) % slots) {
      const probed = (i + slots - this.#homeOf(this.lowAt(i))) % slots
      if (probed < (i + slots - hole) % slots) continue
      copyWords(this.#words, WORDS * i, this.#words, WORDS * hole)
      hole = i
    }
    this.#words[WORDS * hole] = 0
    this.states--
    this.#shrinkWide()
  }

  /** Moves a state to another page. */
  moveTo(to: Page, slot: number): void {
    const added = to.#addCopy(this.#words, WORDS * slot)
    if (to.isWide(added)) {
      const state = (this.#wide as WideStates).read(this.#positionAt(slot))
      to.#addWide(added, state, 0, state.length)
    }
    this.remove(slot)
  }

  /** Adds a copy of a slot. If its state is wide, that is still missing. */
  #addCopy(words: Int32Array, at: number): number {
    const slot = this.add(words[at + 1] as number, words[at] as number)
    copyWords(words, at, this.#words, WORDS * slot)
    return slot
  }

  /** Returns how many numbers `saveWide` writes. */
  widthAt(slot: number): number {
    return this.isWide(slot) ? 1 + (this.#wide as WideStates).lengthAt(this.#positionAt(slot)) : 0
  }

  /** Copies a slot to `words`, from `at` on. */
  save(slot: number, words: Int32Array, at: number): void {
    copyWords(this.#words, WORDS * slot, words, at)
  }

  /** Copies a wide state, after its length, to `numbers`. Returns where it ends. */
  saveWide(slot: number, numbers: Float64Array, at: number): number {
    return (this.#wide as WideStates).save(this.#positionAt(slot), numbers, at)
  }

  /** Lets the first wide state make room also for one of this length, so that later ones need not. */
  expectWide(length: number): void {
    this.#expected += WideStates.sizeOf(length)
  }

  /** Adds a saved slot, and the wide state of `length` numbers, if there is one. The page must not be full. */
  load(words: Int32Array, at: number, numbers: Float64Array, start: number, length: number): void {
    const slot = this.#addCopy(words, at)
    if (this.isWide(slot)) this.#addWide(slot, numbers, start, length)
  }
}

/** Copies the bytes of a slot word by word: a hash that is copied as a double may change. */
function copyWords(from: Int32Array, fromWord: number, to: Int32Array, word: number): void {
  for (let i = 0; i < WORDS; i++) to[word + i] = from[fromWord + i] as number
}
