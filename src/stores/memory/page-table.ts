import { FIRST_SLOTS, maxSlotsOf, Page } from './page.js'

/** A page with this share of its slots taken is split: beyond it, probing would pass many taken slots. */
const FULL = 0.8
/** A page that is smaller than full size grows to so many times its slots. */
const GROWTH = 4
/** Two sibling pages are merged if fewer states than this share of one page's slots are left of both. */
const SPARSE = 0.5

/**
 * A hash table for states of one width. Two keys of equal hash share a state: for n keys, the odds that any
 * two do are about n²/2^65, one in 370,000 at ten million keys.
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
 * range 00, and a new sibling gets range 01. When page B is full, the
 * directory doubles first, since the page has only one entry. When pages B and C are sparse, they merge into
 * one page with range 10 to 11. So growing and shrinking never move more than a page at once.
 */
export class PageTable {
  /** The pages, in no order. */
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
    const page = new Page(this.#buffer, 0, 0, Math.min(FIRST_SLOTS, maxSlotsOf(width)))
    this.#pages.push(page)
    this.#directory = [page, page]
  }

  pageOf(high: number): Page {
    return this.#directory[high >>> this.#shift] as Page
  }

  /** Returns the page of a hash with room for a state. Changes no state if there is no memory for it. */
  pageWithRoom(high: number): Page {
    let page = this.pageOf(high)
    while (page.states >= FULL * page.slots) {
      if (page.slots < maxSlotsOf(page.width)) this.#grow(page)
      else this.#split(page)
      page = this.pageOf(high)
    }
    return page
  }

  remove(page: Page, slot: number): void {
    page.remove(slot)
    if (page.states < (SPARSE / 2) * page.slots) this.#merge(page)
  }

  /**
   * Replaces a page by a larger one with the same range, at the same place in the round of the clock hand.
   */
  #grow(page: Page): void {
    const slots = Math.min(GROWTH * page.slots, maxSlotsOf(page.width))
    const larger = new Page(this.#buffer, page.depth, page.prefix, slots)
    this.#pages[this.#pages.indexOf(page)] = larger
    this.#mapRange(larger)
    this.#moveStates(page, larger)
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
    this.#mapRange(sibling)
    this.#moveStates(page, sibling)
  }

  /** Merges a page with its sibling, unless that is split itself, or has too many states. */
  #merge(page: Page): void {
    if (page.depth === 0) return
    const sibling = this.pageOf((page.prefix ^ 1) << (32 - page.depth))
    if (sibling.depth !== page.depth || page.states + sibling.states >= SPARSE * page.slots) return
    page.depth--
    page.prefix >>>= 1
    this.#mapRange(page)
    this.#moveStates(sibling, page)
    this.#pages.splice(this.#pages.indexOf(sibling), 1)
  }

  /** Points the entries of a page's range at it. */
  #mapRange(page: Page): void {
    const unused = 32 - this.#shift - page.depth
    this.#directory.fill(page, page.prefix << unused, (page.prefix + 1) << unused)
  }

  /** Moves the states of `from` that belong to `to` there. */
  #moveStates(from: Page, to: Page): void {
    for (let slot = 0; slot < from.slots; slot++) {
      while (from.lowAt(slot) !== 0 && this.pageOf(from.highAt(slot)) === to) {
        to.add(from.highAt(slot), from.lowAt(slot), from.policyIdAt(slot), from.read(slot))
        from.remove(slot)
      }
    }
  }
}
