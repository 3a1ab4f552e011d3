import type { State } from '../../policies/policy.js'

/** The most that the slots of a page take: little enough to split a page in a fraction of a millisecond. */
const PAGE_BYTES = 1 << 16
/**
 * How many slots the first page of a table begins with: an application may have thousands of small stores.
 */
export const FIRST_SLOTS = 16

/** Returns how many slots a full-size page has for states of `width` numbers: a power of two. */
export function maxSlotsOf(width: number): number {
  return 2 ** Math.floor(Math.log2(PAGE_BYTES / (8 * (1 + width))))
}

/**
 * A hash table of a fixed size by `low`, with linear probing. It has the states of all hashes whose `high`
 * begins with `prefix`, a number of `depth` bits. `low` is never 0.
 *
 * A state stays in its slot until a state is removed.
 */
export class Page {
  depth: number
  prefix: number
  states = 0
  /** How many slots there are, a power of two. */
  readonly slots: number
  /** How many numbers a state has. */
  readonly width: number
  readonly #buffer: number[]
  /**
   * For each slot: `low` (0 = the slot is empty), `high`, and two words for each number of the state, side
   * by side, so that a lookup reads one cache line.
   */
  readonly #words: Int32Array
  /** The same bytes. For each slot: the hash, which is not a number, and the numbers of the state. */
  readonly #numbers: Float64Array
  /** For each slot the number of its policy: apart, because a lookup does not read it. */
  readonly #policyIds: Uint32Array

  /** Creates an empty page. `buffer` is what `read` returns: as many numbers as a state has. */
  constructor(buffer: number[], depth: number, prefix: number, slots = maxSlotsOf(buffer.length)) {
    this.width = buffer.length
    this.slots = slots
    const numbers = this.slots * (1 + this.width)
    const bytes = new ArrayBuffer(8 * numbers + 4 * this.slots)
    this.depth = depth
    this.prefix = prefix
    this.#buffer = buffer
    this.#words = new Int32Array(bytes, 0, 2 * numbers)
    this.#numbers = new Float64Array(bytes, 0, numbers)
    this.#policyIds = new Uint32Array(bytes, 8 * numbers)
  }

  /** Returns the slot of a hash, or -1. */
  find(high: number, low: number): number {
    const words = this.#words
    const stride = 2 + 2 * this.width
    const mask = this.slots - 1
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const found = words[slot * stride]
      if (found === low && words[slot * stride + 1] === high) return slot
      if (found === 0) return -1
    }
  }

  lowAt(slot: number): number {
    return this.#words[2 * slot * (1 + this.width)] as number
  }

  highAt(slot: number): number {
    return this.#words[2 * slot * (1 + this.width) + 1] as number
  }

  policyIdAt(slot: number): number {
    return this.#policyIds[slot] as number
  }

  /** Returns the state in a slot, in an array that the next call reuses. */
  read(slot: number): State {
    const state = this.#buffer
    const first = slot * (1 + state.length) + 1
    for (let i = 0; i < state.length; i++) state[i] = this.#numbers[first + i] as number
    return state
  }

  write(slot: number, state: State): void {
    const first = slot * (1 + this.width) + 1
    for (let i = 0; i < this.width; i++) this.#numbers[first + i] = state[i] as number
  }

  /** Adds a state under a hash that has none. The page must not be full. */
  add(high: number, low: number, policyId: number, state: State): void {
    let slot = low & (this.slots - 1)
    while (this.lowAt(slot) !== 0) slot = (slot + 1) & (this.slots - 1)
    const first = 2 * slot * (1 + this.width)
    this.#words[first] = low
    this.#words[first + 1] = high
    this.#policyIds[slot] = policyId
    this.write(slot, state)
    this.states++
  }

  /** Empties a slot. States behind it that probing could not find any more move up. */
  remove(slot: number): void {
    const stride = 2 + 2 * this.width
    const mask = this.slots - 1
    let hole = slot
    for (let i = (hole + 1) & mask; this.lowAt(i) !== 0; i = (i + 1) & mask) {
      const probed = (i - this.lowAt(i)) & mask
      if (probed < ((i - hole) & mask)) continue
      // Word by word: a hash that is copied as a double may change.
      this.#words.copyWithin(hole * stride, i * stride, (i + 1) * stride)
      this.#policyIds[hole] = this.#policyIds[i] as number
      hole = i
    }
    this.#words[hole * stride] = 0
    this.states--
  }
}
