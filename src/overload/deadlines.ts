/** A place that is given back at a time, if nothing gives it back before. */
export interface Expiring {
  /** When it expires: `Infinity` for never. Set by `Deadlines` only. */
  dueMs: number
  /** Called once it is due. */
  expire(): void
}

/**
 * When places expire. They are looked at when the next request comes, and while requests wait, since no request
 * needs the places before. So there is no timer, which isolates would not run between requests.
 */
export class Deadlines {
  readonly #places = new Set<Expiring>()
  /** No place is due before. */
  #nextMs = Number.POSITIVE_INFINITY

  /** Sets when a place expires, in place of an earlier time. */
  set(place: Expiring, dueMs: number): void {
    place.dueMs = dueMs
    this.#places.add(place)
    this.#nextMs = Math.min(this.#nextMs, dueMs)
  }

  /** Lets a place never expire. */
  clear(place: Expiring): void {
    if (place.dueMs === Number.POSITIVE_INFINITY) return // as most are: a look into the set would cost more
    place.dueMs = Number.POSITIVE_INFINITY
    this.#places.delete(place)
  }

  /** Has the places expire that are due. */
  expireDue(nowMs: number): void {
    if (nowMs < this.#nextMs) return
    this.#nextMs = Number.POSITIVE_INFINITY
    for (const place of this.#places) {
      if (place.dueMs > nowMs) {
        this.#nextMs = Math.min(this.#nextMs, place.dueMs)
        continue
      }
      this.clear(place)
      place.expire()
    }
  }
}
