import { warnOnce } from '../util/warn-once.js'
import { expireAll, type Watchers } from './watchers.js'

/** A request has its place for so long at most, if nothing tells whether it will ever get a response. */
export const LONGEST_MS = 60_000

/**
 * Requests whose response has not begun, the oldest first, for servers that do not tell when a caller forgets
 * one. They are looked at when the next request comes, since nobody needs their places before. So there is no
 * timer, which isolates would not run between requests.
 */
export class Unanswered {
  readonly #sinceMs = new Map<Watchers, number>()

  add(watchers: Watchers): void {
    this.#sinceMs.set(watchers, performance.now())
  }

  delete(watchers: Watchers): void {
    this.#sinceMs.delete(watchers)
  }

  /** Ends the requests that have waited for too long, and warns of the first. */
  endOverdue(): void {
    if (this.#sinceMs.size === 0) return
    const dueMs = performance.now() - LONGEST_MS
    for (const [watchers, sinceMs] of this.#sinceMs) {
      if (sinceMs > dueMs) return
      this.#sinceMs.delete(watchers)
      if (expireAll(watchers)) warnOnce('HEADGATE_NO_RESPONSE', NO_RESPONSE)
    }
  }
}

const NO_RESPONSE =
  'overloadGuard: a request got no response for a minute, so its place was given back. Call handle, or pass ' +
  'each response to finish, even that to an error. If you do, give your handlers a time-out.'
