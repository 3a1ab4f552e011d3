import { PAGE_SLOTS, Page } from './page.js'

/** The slots of the first page of a table: an application may have thousands of small stores. */
export const FIRST_SLOTS = 16
/** A page with this share of its slots taken grows or splits, since probing would pass many taken slots. */
export const FULL = 0.92
/** A page below full size grows by this factor, at most to full size. */
export const GROWTH = 4
/** The slots of a page that gets half of another: below full size, so that fewer of its slots are empty. */
export const HALF_SLOTS = 0.75 * PAGE_SLOTS
/** The most halves that are kept for the next splits. */
const MAX_SPARE = 16
/** Two sibling pages are merged if fewer states than this share of one page's slots are left of both. */
const SPARSE = 0.5

/**
 * A hash table of pages. Two keys of equal hash share a state, which `memoryStore` describes.
 *
 * Extendible hashing (Fagin, Nievergelt, Pippenger and Strong, 1979): the place of `high` in the range of
 * hashes selects an entry of the directory, which is a page.
 *
 *     place of high     directory   page
 *       0 to 1/4              A ----> page A, depth 1, prefix 0: the range of the first two entries
 *     1/4 to 1/2              A --/
 *     1/2 to 3/4              B ----> page B, depth 2, prefix 10: the range of the third entry
 *     3/4 to 1                C ----> page C, depth 2, prefix 11: its sibling
 *
 * The first page starts small, and each page grows to full size before it is split. When page A is full, it
 * keeps its first half, and a new sibling gets the other. When page B is full, the directory doubles first,
 * since the page has only one entry. When pages B and C are sparse, they merge into one page. So growing and
 * shrinking never move more than a page at once.
 *
 * The last page of the range gets twice as many hashes as the first, and those in between accordingly. So
 * pages become full one after the other. If all were split at about the same number of states, a table that
 * has just split them would be less than half full.
 */
export class PageTable {
  /** All pages, in the order in which the clock hand visits them. */
  readonly pages: Page[] = []
  /** For each part of the range its page. Never shrinks: it is small. */
  #directory: Page[]
  /** Empty pages that larger ones have replaced. They are reused, since their memory would be freed late. */
  readonly #spareHalves: Page[] = []

  constructor() {
    const page = new Page(0, 0, FIRST_SLOTS)
    this.pages.push(page)
    this.#directory = [page]
  }

  pageOf(high: number): Page {
    return this.#directory[(placeOf(high) * this.#directory.length) | 0] as Page
  }

  /** Returns the page of a hash with room for a state. Changes no state if there is no memory for it. */
  pageWithRoom(high: number): Page {
    for (;;) {
      const page = this.pageOf(high)
      if (page.states < FULL * page.slots) return page
      if (page.slots < PAGE_SLOTS) this.#grow(page)
      else this.#split(page)
    }
  }

  /** Replaces the pages of an empty table by others. */
  adopt(pages: readonly Page[], directory: Page[]): void {
    this.pages.length = 0
    for (const page of pages) this.pages.push(page)
    this.#directory = directory
  }

  remove(page: Page, slot: number): void {
    page.remove(slot)
    if (page.states < (SPARSE / 2) * page.slots) this.#merge(page)
  }

  /** Replaces a page by a larger one, at the same place in the round of the clock hand. */
  #grow(page: Page): void {
    const larger = new Page(page.depth, page.prefix, GROWTH * page.slots)
    this.pages[this.pages.indexOf(page)] = larger
    this.#moveRange(page, larger)
    if (page.slots === HALF_SLOTS && this.#spareHalves.length < MAX_SPARE) this.#spareHalves.push(page)
  }

  /** Gives the upper half of a page's range to a new sibling. */
  #split(page: Page): void {
    const sibling = this.#newHalf(page.depth + 1, 2 * page.prefix + 1)
    if (2 ** page.depth === this.#directory.length)
      this.#directory = this.#directory.flatMap((each) => [each, each])
    page.depth++
    page.prefix *= 2
    this.pages.push(sibling)
    this.#moveRange(page, sibling)
  }

  #newHalf(depth: number, prefix: number): Page {
    const page = this.#spareHalves.pop() ?? new Page(depth, prefix, HALF_SLOTS)
    return Object.assign(page, { depth, prefix })
  }

  /** Merges a page with its sibling, unless that is split itself, or has too many states. */
  #merge(page: Page): void {
    if (page.depth === 0) return
    const entries = this.#directory.length / 2 ** page.depth
    const sibling = this.#directory[(page.prefix ^ 1) * entries] as Page
    if (sibling.depth !== page.depth || page.states + sibling.states >= SPARSE * page.slots) return
    page.depth--
    page.prefix >>>= 1
    this.#moveRange(sibling, page)
    this.pages.splice(this.pages.indexOf(sibling), 1)
  }

  /** Points the entries of `to`'s range at it, and moves the states of `from` that belong there. */
  #moveRange(from: Page, to: Page): void {
    assignRange(this.#directory, to)
    for (let slot = 0; slot < from.slots; slot++) {
      while (from.lowAt(slot) !== 0 && this.pageOf(from.highAt(slot)) !== from)
        from.moveTo(this.pageWithRoom(from.highAt(slot)), slot) // which `to` has not, if too many move
    }
  }
}

/**
 * Returns the place of a hash, from 0 to 1. The density of places doubles in that range, so the last page gets
 * twice as many hashes as the first.
 */
export function placeOf(high: number): number {
  const place = (high >>> 0) / 2 ** 32
  return place * (4 / 3 - place / 3)
}

/** Points the entries of a page's range at it. */
export function assignRange(directory: Page[], page: Page): void {
  const entries = directory.length / 2 ** page.depth
  directory.fill(page, page.prefix * entries, (page.prefix + 1) * entries)
}
