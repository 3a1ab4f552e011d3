/** Keys whose past slices are remembered. */
const MAX_KEYS = 50_000
/** A slice that has been over for so long is not counted in any more, by a process whose clock is a little behind. */
export const SETTLED_MS = 1000

interface Past {
  /** The newest slice that is known. */
  newest: number
  /** The counts of it and of those before it. */
  counts: number[]
}

/** Remembers the counts of slices that are over, since they do not change any more. */
export class PastSlices {
  readonly #byKey = new Map<string, Past>()

  /** How often a slice was counted in; `undefined` if it has to be asked. */
  countOf(key: string, slice: number): number | undefined {
    const past = this.#byKey.get(key)
    return past?.counts[past.newest - slice]
  }

  /** Keeps the counts of slices that are over, the newest first. */
  keep(key: string, newest: number, counts: number[]): void {
    const past = this.#byKey.get(key)
    if (past !== undefined) {
      past.newest = newest
      past.counts = counts
      return
    }
    if (this.#byKey.size >= MAX_KEYS) this.#byKey.delete(this.#byKey.keys().next().value as string)
    this.#byKey.set(key, { newest, counts })
  }

  forget(key: string): void {
    this.#byKey.delete(key)
  }
}
