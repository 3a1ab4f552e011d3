/** The places are looked at no more often than this, since that takes longer the more there are. */
const GRAIN_MS = 1

/** A place that is given back at a time, if nothing gives it back before. Only `Deadlines` sets its fields. */
export interface Expiring {
  /** When it expires: `Infinity` for never. */
  dueMs: number
  /** Its neighbors in the list of the places that expire. */
  previous: Expiring | undefined
  next: Expiring | undefined
  /** Called once it is due. */
  expire(): void
}

/**
 * When places expire. They are looked at when the next request comes, and while requests wait, since no request
 * needs the places before. So there is no timer, which isolates would not run between requests. Almost every
 * request is set and cleared, so the places are a linked list: a `Set` would have to hash each of them.
 */
export class Deadlines {
  #first: Expiring | undefined
  #last: Expiring | undefined
  /** No place is due before. */
  #nextMs = Number.POSITIVE_INFINITY

  /** Sets when a place expires, in place of an earlier time. */
  set(place: Expiring, dueMs: number): void {
    if (place.dueMs === Number.POSITIVE_INFINITY) this.#append(place)
    place.dueMs = dueMs
    if (dueMs < this.#nextMs) this.#nextMs = dueMs
  }

  /** Lets a place never expire. */
  clear(place: Expiring): void {
    if (place.dueMs === Number.POSITIVE_INFINITY) return
    place.dueMs = Number.POSITIVE_INFINITY
    this.#remove(place)
  }

  /** Has the places expire that are due. */
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
