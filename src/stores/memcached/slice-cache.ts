import { StoreError } from '../store-error.js'
import { askCount, type Done } from './counter-io.js'
import type { Counters } from './counters.js'
import type { Link } from './link.js'
import { PastSlices, SETTLED_MS } from './past-slices.js'
import { get } from './protocol.js'

/** What is counted in the slices around the present one. */
export interface Neighbours {
  /** All those to come in which others may be already. */
  readonly next: number
  /** Those before, the newest first. */
  readonly older: readonly number[]
  /** Whether some were remembered for so long that by now they may have fallen. */
  readonly areOld: boolean
}

export interface NeighbourSlices {
  find(key: string, counters: Counters, nowMs: number, done: Done<Neighbours>): void
  /** Lets everything of a key be asked again. */
  forget(key: string): void
}

const NONE: Neighbours = { next: 0, older: [], areOld: false }

/**
 * Finds the counts that are known, and asks for the others.
 *
 * The slices that begin within a second are read as well, since a count may take so long: whoever counts there first and then
 * reads this slice may not see what is counted here now, but then it is seen here what was counted there.
 */
export function neighbourSlices(ask: Link): NeighbourSlices {
  const past = new PastSlices()

  function find(key: string, counters: Counters, nowMs: number, done: Done<Neighbours>): void {
    if (counters.older === 0) {
      done(NONE)
      return
    }
    const { sliceAt, keyOf, older } = counters
    const slice = sliceAt(nowMs)
    const known = past.before(key, slice, older, nowMs)
    const areOld = past.isOld(key, nowMs)
    const ahead = Math.min(older, sliceAt(nowMs + SETTLED_MS) - slice)
    if (ahead === 0 && isComplete(known)) {
      done({ next: 0, older: known, areOld })
      return
    }
    const counts = [...new Array<undefined>(ahead).fill(undefined), ...known]
    const counterAt = (place: number) =>
      keyOf(key, place < ahead ? slice + 1 + place : slice - 1 - (place - ahead))
    const forgotten = past.forgotten
    askUnknown(key, counts, counterAt, (outcome) => {
      if (outcome instanceof StoreError) {
        done(outcome)
        return
      }
      const before = outcome.slice(ahead)
      if (past.forgotten === forgotten) past.keep(key, slice, sliceAt(nowMs - SETTLED_MS) - 1, before, nowMs)
      done({ next: sumOf(outcome.slice(0, ahead)), older: before, areOld })
    })
  }

  /** Asks for the counts that are not there, and puts them in their places. */
  function askUnknown(
    key: string,
    counts: (number | undefined)[],
    counterAt: (place: number) => string,
    done: Done<readonly number[]>,
  ): void {
    let open = counts.filter((count) => count === undefined).length
    let failure: StoreError | undefined
    if (open === 0) done(counts as number[])
    counts.forEach((count, place) => {
      if (count !== undefined) return
      askCount(ask, key, get(counterAt(place)), (outcome) => {
        if (outcome instanceof StoreError) failure = outcome
        else counts[place] = outcome
        if (--open === 0) done(failure ?? (counts as number[]))
      })
    })
  }

  return { find, forget: (key) => past.forget(key) }
}

function isComplete(counts: readonly (number | undefined)[]): counts is readonly number[] {
  return !counts.includes(undefined)
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
