/** The places are looked at no more often than this, since that takes longer the more there are. */
const GRAIN_MS = 1

/** A place with a deadline, after which it expires. Only `Deadlines` sets these fields. */
export interface Expiring {
  /** When it expires: `Infinity` for never. */
  dueMs: number
  /** Its neighbors in the list of the places that expire. */
  previous: Expiring | undefined
  next: Expiring | undefined
  /** Called after the deadline. */
  expire(): void
}

/**
 * The deadlines of places. They are checked when the next request comes and while requests wait, since no
 * request needs the places earlier. So there is no timer, which isolates would not run between requests.
 * Almost every request sets a deadline and clears it, so the places form a linked list: a `Set` would have
 * to hash each of them.
 */
export class Deadlines {
  #first: Expiring | undefined
  #last: Expiring | undefined
  /** No place expires earlier. */
  #nextMs = Number.POSITIVE_INFINITY

  /** Sets when a place expires. This replaces its deadline, if it has one. */
  set(place: Expiring, dueMs: number): void {
    if (place.dueMs === Number.POSITIVE_INFINITY) this.#append(place)
    place.dueMs = dueMs
    if (dueMs < this.#nextMs) this.#nextMs = dueMs
  }

  /** Clears the deadline of a place, so that it never expires. */
  clear(place: Expiring): void {
    if (place.dueMs === Number.POSITIVE_INFINITY) return
    place.dueMs = Number.POSITIVE_INFINITY
    this.#remove(place)
  }

  /** Expires the places whose deadline has passed. */
  expireDue(nowMs: number): void {
    if (nowMs < this.#nextMs) return
    this.#nextMs = Number.POSITIVE_INFINITY
    const due: Expiring[] = []
    for (let place = this.#first; place !== undefined; place = place.next) {
      if (place.dueMs <= nowMs) due.push(place)
      else this.#nextMs = Math.min(this.#nextMs, place.dueMs)
    }
    this.#nextMs = Math.max(this.#nextMs, nowMs + GRAIN_MS)
    for (const place of due) {
      if (place.dueMs > nowMs) continue // it was set or cleared as another one expired
      this.clear(place)
      place.expire()
    }
  }

  #append(place: Expiring): void {
    place.previous = this.#last
    if (this.#last === undefined) this.#first = place
    else this.#last.next = place
    this.#last = place
  }

  #remove(place: Expiring): void {
    const { previous, next } = place
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    place.previous = place.next = undefined
  }
}
