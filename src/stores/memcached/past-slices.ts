import { RecentMap } from '../../util/recent-map.js'

/** Keys whose past slices are remembered, at least. */
const MIN_KEYS = 100_000
/** A slice that has been over for so long is not counted in any more, by a process whose clock is a little behind. */
export const SETTLED_MS = 1000
/** What is remembered for longer denies nobody before it has been asked again. */
const TRUSTED_MS = 10_000

interface Past {
  readonly readAtMs: number
  /** The newest slice that is known. */
  readonly newest: number
  /** The counts of it and of those before it. */
  readonly counts: readonly number[]
}

/**
 * Remembers the counts of slices that are over: nobody counts in them any more, so that they can only fall, where another process gives back
 * or forgets. What they allow is right, then, however old they are; what they deny may not be.
 */
export class PastSlices {
  #byKey = new RecentMap<Past>(MIN_KEYS)
  #latestMs = 0
  /** How often something was forgotten. What was asked before that and comes later is not to be kept. */
  forgotten = 0

  /** The counts of so many slices before this one, the newest first; `undefined` where one has to be asked. */
  before(key: string, slice: number, older: number, nowMs: number): readonly (number | undefined)[] {
    this.#dropWhenSetBack(nowMs)
    const past = this.#byKey.get(key)
    if (past === undefined) return new Array(older).fill(undefined)
    if (past.newest === slice - 1 && past.counts.length === older) return past.counts
    return Array.from({ length: older }, (_, i) => past.counts[past.newest - (slice - 1 - i)])
  }

  /** Whether a denial by what is remembered has to be asked again. */
  isOld(key: string, nowMs: number): boolean {
    const past = this.#byKey.get(key)
    return past !== undefined && Math.abs(nowMs - past.readAtMs) > TRUSTED_MS
  }

  /** Keeps the counts of the slices before this one, the newest first, as far as they are over for good. */
  keep(key: string, slice: number, newestSettled: number, counts: readonly number[], nowMs: number): void {
    const past = this.#byKey.get(key)
    if (past?.newest === newestSettled) return
    const kept = counts.slice(slice - 1 - newestSettled)
    this.#byKey.set(key, { readAtMs: past?.readAtMs ?? nowMs, newest: newestSettled, counts: kept })
  }

  forget(key: string): void {
    this.#byKey.delete(key)
    this.forgotten++
  }

  /** A clock that was ahead took slices for over in which others count. */
  #dropWhenSetBack(nowMs: number): void {
    if (nowMs < this.#latestMs) {
      this.#byKey = new RecentMap(MIN_KEYS)
      this.forgotten++
    }
    this.#latestMs = nowMs
  }
}
