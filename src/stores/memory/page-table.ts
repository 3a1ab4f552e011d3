import type { State } from '../../policies/policy.js'

/** The most that the slots of a page take: little enough to split a page in a fraction of a millisecond. */
const PAGE_BYTES = 1 << 16
/** The slots of the first page of a table: an application may have thousands of small stores. */
const FIRST_SLOTS = 16
/** A page with this share of its slots taken is split: beyond it, probing would pass many taken slots. */
const FULL = 0.8
/** A page below full size grows by this factor. */
const GROWTH = 4
/** Two sibling pages are merged if fewer states than this share of one page's slots are left of both. */
const SPARSE = 0.5

/**
 * A hash table for states with the same number of figures per key. Two keys of equal hash share a state, which `memoryStore` describes.
 *
 * Extendible hashing (Fagin, Nievergelt, Pippenger and Strong, 1979): the first bits of `high` select an
 * entry of the directory, which is a page.
 *
 *     first bits of high   directory   page
 *                     00       A ----> page A, depth 1, prefix 0: the range of entries 00 to 01
 *                     01       A --/
 *                     10       B ----> page B, depth 2, prefix 10: the range of entry 10
 *                     11       C ----> page C, depth 2, prefix 11: its sibling
 *
 * The first page starts small, and grows to full size before it is ever split. When page A is full, it keeps
 * range 00, and a new sibling gets range 01. When page B is full, the directory doubles first, since the
 * page has only one entry. When pages B and C are sparse, they merge into one page with range 10 to 11. So
 * growing and shrinking never move more than a page at once.
 */
export class PageTable {
  readonly #pages: Page[]
  readonly #buffer: number[]
  /** For each value of the first bits of `high` its page. Never shrinks: it is small. */
  #directory: Page[]
  /** `high` shifted by this leaves the bits that index the directory. */
  #shift = 31

  /** Creates a table for states of `width` numbers. It keeps its pages in `pages`, beside others. */
  constructor(width: number, pages: Page[]) {
    this.#pages = pages
    this.#buffer = Array.from({ length: width }, () => 0.5) // a fraction makes V8 keep an array of doubles
    const page = new Page(this.#buffer, 0, 0, FIRST_SLOTS)
    this.#pages.push(page)
    this.#directory = [page, page]
  }

  pageOf(high: number): Page {
    return this.#directory[high >>> this.#shift] as Page
  }

  /** Returns the page of a hash with room for a state. Changes no state if there is no memory for it. */
  pageWithRoom(high: number): Page {
    for (;;) {
      const page = this.pageOf(high)
      if (page.states < FULL * page.slots) return page
      if (page.slots < maxSlotsOf(page.width)) this.#grow(page)
      else this.#split(page)
    }
  }

  remove(page: Page, slot: number): void {
    page.remove(slot)
    if (page.states < (SPARSE / 2) * page.slots) this.#merge(page)
  }

  /** Replaces a page by a larger one, at the same place in the round of the clock hand. */
  #grow(page: Page): void {
    const larger = new Page(this.#buffer, page.depth, page.prefix, GROWTH * page.slots)
    this.#pages[this.#pages.indexOf(page)] = larger
    this.#moveRange(page, larger)
  }

  /** Gives the upper half of a page's range to a new sibling. */
  #split(page: Page): void {
    const sibling = new Page(this.#buffer, page.depth + 1, 2 * page.prefix + 1)
    if (page.depth === 32 - this.#shift) {
      this.#directory = this.#directory.flatMap((each) => [each, each])
      this.#shift--
    }
    page.depth++
    page.prefix *= 2
    this.#pages.push(sibling)
    this.#moveRange(page, sibling)
  }

  /** Merges a page with its sibling, unless that is split itself, or has too many states. */
  #merge(page: Page): void {
    if (page.depth === 0) return
    const sibling = this.pageOf((page.prefix ^ 1) << (32 - page.depth))
    if (sibling.depth !== page.depth || page.states + sibling.states >= SPARSE * page.slots) return
    page.depth--
    page.prefix >>>= 1
    this.#moveRange(sibling, page)
    this.#pages.splice(this.#pages.indexOf(sibling), 1)
  }

  /** Points the entries of `to`'s range at it, and moves the states of `from` that belong there. */
  #moveRange(from: Page, to: Page): void {
    const unused = 32 - this.#shift - to.depth
    this.#directory.fill(to, to.prefix << unused, (to.prefix + 1) << unused)
    for (let slot = 0; slot < from.slots; slot++) {
      while (from.lowAt(slot) !== 0 && this.pageOf(from.highAt(slot)) === to) {
        to.add(from.highAt(slot), from.lowAt(slot), from.policyIdAt(slot), from.read(slot))
        from.remove(slot)
      }
    }
  }
}

/** Returns how many slots a full-size page has for states of `width` numbers: a power of two. */
function maxSlotsOf(width: number): number {
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

  /** Creates an empty page, of at most full size. `buffer` has a state's length: `read` returns it. */
  constructor(buffer: number[], depth: number, prefix: number, slots = Number.POSITIVE_INFINITY) {
    this.width = buffer.length
    this.slots = Math.min(slots, maxSlotsOf(this.width))
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
    return this.#words[2 * slot * (1 + this.width)] ?? 0
  }

  highAt(slot: number): number {
    return this.#words[2 * slot * (1 + this.width) + 1] ?? 0
  }

  policyIdAt(slot: number): number {
    return this.#policyIds[slot] ?? 0
  }

  /** Returns the figures in a slot, in an array that the next call reuses. */
  read(slot: number): State {
    const state = this.#buffer
    const first = slot * (1 + state.length) + 1
    for (let i = 0; i < state.length; i++) state[i] = this.#numbers[first + i] ?? 0
    return state
  }

  /** Fills the figures in a slot into a state, in the given places. */
  readInto(slot: number, state: number[], places: readonly number[]): void {
    const first = slot * (1 + this.width) + 1
    for (let i = 0; i < this.width; i++) state[places[i] ?? 0] = this.#numbers[first + i] ?? 0
  }

  /** Writes the figures that a state has in the given places; without places, those that it consists of. */
  write(slot: number, state: State, places?: readonly number[]): void {
    const first = slot * (1 + this.width) + 1
    for (let i = 0; i < this.width; i++) this.#numbers[first + i] = state[places?.[i] ?? i] ?? 0
  }

  setPolicyId(slot: number, policyId: number): void {
    this.#policyIds[slot] = policyId
  }

  /** Adds figures under a hash that has none. The page must not be full. */
  add(high: number, low: number, policyId: number, state: State, places?: readonly number[]): void {
    let slot = low & (this.slots - 1)
    while (this.lowAt(slot) !== 0) slot = (slot + 1) & (this.slots - 1)
    const first = 2 * slot * (1 + this.width)
    this.#words[first] = low
    this.#words[first + 1] = high
    this.#policyIds[slot] = policyId
    this.write(slot, state, places)
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
      this.#policyIds[hole] = this.#policyIds[i] ?? 0
      hole = i
    }
    this.#words[hole * stride] = 0
    this.states--
  }
}
