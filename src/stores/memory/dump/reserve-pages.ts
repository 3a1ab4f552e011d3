import { PAGE_SLOTS, Page } from '../page.js'
import { assignRange, FIRST_SLOTS, FULL, GROWTH, HALF_SLOTS, type PageTable, placeOf } from '../page-table.js'

/** The most states of a page. */
const MAX_STATES = Math.floor(FULL * PAGE_SLOTS)
/** The most times that a range is halved. One part in a million of all hashes never fills a page. */
const MAX_DEPTH = 20

/**
 * Gives an empty table pages with room for the states of these hashes. If far too many of the hashes are
 * nearly equal, it changes nothing and returns false.
 */
export function reservePages(table: PageTable, highs: Int32Array): boolean {
  const counts = countByRange(highs)
  if (counts === undefined) return false
  const pages: Page[] = []
  const directory = new Array<Page>(counts.length / 2)

  /** Adds a page for a range, or pages for both halves of it. */
  function addPages(depth: number, prefix: number): void {
    const count = counts?.[2 ** depth + prefix] as number
    if (count > MAX_STATES) {
      addPages(depth + 1, 2 * prefix)
      addPages(depth + 1, 2 * prefix + 1)
      return
    }
    const page = new Page(depth, prefix, slotsFor(count, depth))
    pages.push(page)
    assignRange(directory, page)
  }

  addPages(0, 0)
  table.adopt(pages, directory)
  return true
}

/** Returns the size to which a page of so many states would have grown. */
function slotsFor(count: number, depth: number): number {
  let slots = depth === 0 ? FIRST_SLOTS : HALF_SLOTS
  while (count > FULL * Math.min(slots, PAGE_SLOTS)) slots *= GROWTH
  return slots
}

/**
 * Counts hashes by the range of their place. Halves all ranges until each has at most `MAX_STATES` hashes.
 *
 * Element 1 of the result is the count of the whole range. Elements 2n and 2n + 1 are those of the halves of
 * the range of element n. Returns `undefined` if one of the smallest ranges has more.
 */
function countByRange(highs: Int32Array): Uint32Array | undefined {
  const least = Math.ceil(Math.log2(Math.max(1, highs.length / MAX_STATES)))
  for (let depth = least; depth <= MAX_DEPTH; depth++) {
    const ranges = 2 ** depth
    const counts = new Uint32Array(2 * ranges)
    for (let i = 0; i < highs.length; i++) {
      const at = ranges + ((placeOf(highs[i] as number) * ranges) | 0)
      counts[at] = (counts[at] as number) + 1
    }
    if (!counts.every((count) => count <= MAX_STATES)) continue
    for (let i = ranges - 1; i > 0; i--) counts[i] = (counts[2 * i] as number) + (counts[2 * i + 1] as number)
    return counts
  }
  return undefined
}
