import type { State } from '../../policies/policy.js'
import { type Chunk, PAGE_SLOTS, SlotStorage } from './slot-storage.js'

/** A page with this many states is split: beyond it, probing would pass many taken slots. */
const FULL = Math.floor(0.8 * PAGE_SLOTS)
/** Two sibling pages with fewer states than this between them are merged. */
const SPARSE = PAGE_SLOTS / 2

/** The states of all hashes whose `high` begins with `prefix`, a number of `depth` bits. */
interface Page {
  states: number
  depth: number
  prefix: number
}

/**
 * A hash table for states of one width. Two keys of equal hash share a state: for n keys, the odds that any
 * two do are about n²/2^65, one in 370,000 at ten million keys.
 *
 * Extendible hashing (Fagin, Nievergelt, Pippenger and Strong, 1979): the first bits of `high` select an
 * entry of the directory, which names a page; a page is a small hash table by `low`, with linear probing.
 *
 *     first bits of high   directory   page
 *                     00       0 ----> page 0, depth 1, prefix 0: the range of entries 00 to 01
 *                     01       0 --/
 *                     10       1 ----> page 1, depth 2, prefix 10: the range of entry 10
 *                     11       2 ----> page 2, depth 2, prefix 11: its sibling
 *
 * When page 0 is full, it keeps range 00, and a new sibling gets range 01. When page 1 is full, the
 * directory doubles first, since the page has only one entry. When pages 1 and 2 are sparse, they merge into
 * one page with range 10 to 11. So growing and shrinking never move more than a page at once.
 *
 * A state stays in its slot until a state is added or removed.
 */
export class PageTable {
  readonly slots: SlotStorage
  readonly #pages: Page[] = [{ states: 0, depth: 0, prefix: 0 }]
  /** For each value of the first bits of `high` the number of its page. Never shrinks: it is small. */
  #directory = new Int32Array(2)
  /** `high` shifted by this leaves the bits that index the directory. */
  #shift = 31

  constructor(width: number) {
    this.slots = new SlotStorage(width)
  }

  /** Returns the slot of a hash, or -1. `low` is not 0. */
  find(high: number, low: number): number {
    const { chunks, chunkShift, stride } = this.slots
    const first = (this.#directory[high >>> this.#shift] as number) * PAGE_SLOTS
    const { words } = chunks[first >>> chunkShift] as Chunk
    const firstIndex = first & ((1 << chunkShift) - 1)
    for (let i = low & (PAGE_SLOTS - 1); ; i = (i + 1) & (PAGE_SLOTS - 1)) {
      const at = (firstIndex + i) * 2 * stride
      const found = words[at]
      if (found === low && words[at + 1] === high) return first + i
      if (found === 0) return -1
    }
  }

  /** Adds a state under a hash that has none. */
  add(high: number, low: number, policyId: number, state: State): void {
    let page = this.#pageOf(high)
    while (this.#page(page).states >= FULL) {
      this.#split(page)
      page = this.#pageOf(high)
    }
    this.slots.fill(this.#takeSlot(page, low), high, low, policyId, state)
  }

  remove(slot: number): void {
    const page = Math.floor(slot / PAGE_SLOTS)
    this.#freeSlot(slot)
    if (this.#page(page).states < SPARSE / 2) this.#merge(page)
  }

  #page(page: number): Page {
    return this.#pages[page] as Page
  }

  #pageOf(high: number): number {
    return this.#directory[high >>> this.#shift] as number
  }

  /** Counts a state of a page more, and returns the slot for it. */
  #takeSlot(page: number, low: number): number {
    this.#page(page).states++
    const first = page * PAGE_SLOTS
    let i = low & (PAGE_SLOTS - 1)
    while (this.slots.isTaken(first + i)) i = (i + 1) & (PAGE_SLOTS - 1)
    return first + i
  }

  /** Empties a slot. States behind it that probing could not find any more move up. */
  #freeSlot(slot: number): void {
    const page = Math.floor(slot / PAGE_SLOTS)
    const first = page * PAGE_SLOTS
    let hole = slot - first
    for (let i = (hole + 1) % PAGE_SLOTS; this.slots.isTaken(first + i); i = (i + 1) % PAGE_SLOTS) {
      const probed = (i - this.slots.lowAt(first + i)) & (PAGE_SLOTS - 1)
      if (probed < ((i - hole) & (PAGE_SLOTS - 1))) continue
      this.slots.copy(first + i, first + hole)
      hole = i
    }
    this.slots.clear(first + hole)
    this.#page(page).states--
  }

  /** Moves the states of `from` that belong to `to` there. */
  #moveStates(from: number, to: number): void {
    for (let slot = from * PAGE_SLOTS; slot < (from + 1) * PAGE_SLOTS; slot++) {
      while (this.slots.isTaken(slot) && this.#pageOf(this.slots.highAt(slot)) === to) {
        this.slots.copy(slot, this.#takeSlot(to, this.slots.lowAt(slot)))
        this.#freeSlot(slot)
      }
    }
  }

  /** Gives the upper half of a page's range to a new sibling. Throws before it changes any state. */
  #split(number: number): void {
    const page = this.#page(number)
    if (page.depth === 32 - this.#shift) this.#doubleDirectory()
    this.slots.addPage()
    page.depth++
    page.prefix *= 2
    const sibling = this.#pages.push({ states: 0, depth: page.depth, prefix: page.prefix + 1 }) - 1
    this.#mapRange(sibling)
    this.#moveStates(number, sibling)
  }

  /** Merges a page with its sibling, unless that is split itself, or has too many states. */
  #merge(number: number): void {
    const page = this.#page(number)
    if (page.depth === 0) return
    const siblingNumber = this.#directory[(page.prefix ^ 1) << (32 - this.#shift - page.depth)] as number
    const sibling = this.#page(siblingNumber)
    if (sibling.depth !== page.depth || page.states + sibling.states >= SPARSE) return
    page.depth--
    page.prefix >>>= 1
    this.#mapRange(number)
    this.#moveStates(siblingNumber, number)
    this.slots.removePage(siblingNumber)
    const last = this.#pages.pop() as Page
    if (last === sibling) return
    this.#pages[siblingNumber] = last
    this.#mapRange(siblingNumber)
  }

  /** Points the entries of a page's range at it. */
  #mapRange(number: number): void {
    const { prefix, depth } = this.#page(number)
    const unused = 32 - this.#shift - depth
    this.#directory.fill(number, prefix << unused, (prefix + 1) << unused)
  }

  #doubleDirectory(): void {
    const doubled = new Int32Array(2 * this.#directory.length)
    for (let i = 0; i < doubled.length; i++) doubled[i] = this.#directory[i >>> 1] as number
    this.#directory = doubled
    this.#shift--
  }
}
