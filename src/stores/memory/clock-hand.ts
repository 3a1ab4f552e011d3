import type { Page } from './page.js'
import type { PageTable } from './page-table.js'

/** States that a sweep examines (more than a new key adds), and empty slots that it passes before each. */
const SWEPT_STATES = 2
const SWEPT_SLOTS = 16
/** How many states an eviction examines. */
const MIN_EXAMINED = 4
const MAX_EXAMINED = 32

/**
 * The largest share of a limit that a state leaves: at most one unit is taken. The share is that of the last
 * write, so a state that was at its limit counts as such until it is fresh.
 */
export const NEARLY_FRESH = 127

/**
 * Goes round all slots of a table, and finds the states to remove: those that are fresh, a few at a time, and
 * the one to evict from a full table. There is no timer, and nothing scans the whole table.
 */
export class ClockHand {
  readonly #table: PageTable
  /** Returns the share of its limit that a state leaves, from 0 to `NEARLY_FRESH`; more if it is fresh. */
  readonly #shareAt: (page: Page, slot: number, nowMs: number) => number
  /** The index of a page, and a slot in it. */
  #pageIndex = 0
  #slot = 0

  constructor(table: PageTable, shareAt: (page: Page, slot: number, nowMs: number) => number) {
    this.#table = table
    this.#shareAt = shareAt
  }

  /** Examines the next states, and removes those that are fresh. Returns how many. */
  sweep(nowMs: number): number {
    let removed = 0
    for (let examined = 0; examined < SWEPT_STATES; examined++) {
      const page = this.#advance(SWEPT_SLOTS)
      if (page === undefined) break
      if (this.#shareAt(page, this.#slot, nowMs) <= NEARLY_FRESH) this.#slot++
      else {
        this.#table.remove(page, this.#slot) // the hand stays: another state may have moved up
        removed++
      }
    }
    return removed
  }

  /**
   * Removes the next state with the largest share of its limit left, among `states` in the table. Never
   * removes one at its limit, nor one whose hash is spared. Returns whether it has removed one.
   */
  evict(nowMs: number, states: number, spared: ReadonlySet<number>): boolean {
    let candidate: Page | undefined
    let slot = 0
    let largestShare = 0 // so that a key at its limit is never evicted
    const most = Math.min(MAX_EXAMINED, states)
    for (let examined = 0; examined < most; examined++) {
      if (largestShare >= NEARLY_FRESH && examined >= MIN_EXAMINED) break
      const page = this.#advance(Number.POSITIVE_INFINITY)
      if (page === undefined) break // never, because there is a state
      const share = this.#shareAt(page, this.#slot, nowMs)
      if (share > largestShare && !spared.has(page.lowAt(this.#slot))) {
        largestShare = share
        candidate = page
        slot = this.#slot
      }
      this.#slot++
    }
    if (candidate !== undefined) this.#table.remove(candidate, slot)
    return candidate !== undefined
  }

  /** Moves to a taken slot, over at most `empty` others. Returns its page, if any. */
  #advance(empty: number): Page | undefined {
    const { pages } = this.#table
    for (let passed = 0; passed <= empty; ) {
      const page = pages[this.#pageIndex]
      if (page === undefined || this.#slot >= page.slots) {
        this.#pageIndex = page === undefined ? 0 : this.#pageIndex + 1
        this.#slot = 0
      } else {
        if (page.lowAt(this.#slot) !== 0) return page
        this.#slot++
        passed++
      }
    }
    return undefined
  }
}
