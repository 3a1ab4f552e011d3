/** Keys whose past slices are remembered. */
const MAX_KEYS = 50_000
/** A slice that has been over for so long is not counted in any more, by a process whose clock is a little behind. */
export const SETTLED_MS = 1000

/** For so long: what another process gives back or forgets in a slice that is over is seen after that. */
const KEPT_MS = 10_000

interface Past {
  readonly readAtMs: number
  /** The newest slice that is known. */
  readonly newest: number
  /** The counts of it and of those before it. */
  readonly counts: number[]
}

/** Remembers the counts of slices that are over, since nobody counts in them any more. */
export class PastSlices {
  readonly #byKey = new Map<string, Past>()

  /** The counts of so many slices before this one, the newest first; `undefined` where one has to be asked. */
  before(key: string, slice: number, older: number, nowMs: number): (number | undefined)[] {
    const past = this.#byKey.get(key)
    if (past === undefined || Math.abs(nowMs - past.readAtMs) > KEPT_MS)
      return new Array(older).fill(undefined)
    if (past.newest === slice - 1 && past.counts.length === older) return past.counts
    return Array.from({ length: older }, (_, i) => past.counts[past.newest - (slice - 1 - i)])
  }

  /** Keeps the counts of the slices before this one, the newest first, as far as they are over for good. */
  keep(key: string, slice: number, newestSettled: number, counts: readonly number[], nowMs: number): void {
    const past = this.#byKey.get(key)
    const isOld = past === undefined || Math.abs(nowMs - past.readAtMs) > KEPT_MS
    if (past?.newest === newestSettled && !isOld) return
    const readAtMs = isOld ? nowMs : past.readAtMs
    this.#byKey.delete(key)
    if (this.#byKey.size >= MAX_KEYS) this.#byKey.delete(this.#byKey.keys().next().value as string)
    this.#byKey.set(key, { readAtMs, newest: newestSettled, counts: counts.slice(slice - 1 - newestSettled) })
  }

  forget(key: string): void {
    this.#byKey.delete(key)
  }
}
