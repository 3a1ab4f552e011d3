import type { DeniedClient } from './denied-client.js'

/** How many clients of all limiters are kept: the most often denied. */
const MAX_CLIENTS = 10_000
/** How many extra clients are kept before the least denied are dropped, so that finding them is cheap. */
const SLACK = 1000
/** A client that has not been denied for this time is forgotten. */
export const FORGOTTEN_MS = 900_000

/** The denied clients of all limiters of a dashboard. They share its memory. */
export class DeniedPool {
  readonly #members: Map<string, DeniedClient>[] = []
  #size = 0

  /** Creates the clients of one limiter. */
  join(): Map<string, DeniedClient> {
    const clients = new Map<string, DeniedClient>()
    this.#members.push(clients)
    return clients
  }

  get size(): number {
    return this.#size
  }

  added(nowMs: number): void {
    this.#size++
    if (this.#size > MAX_CLIENTS + SLACK) this.#keepMostDenied(nowMs)
  }

  removed(): void {
    this.#size--
  }

  #keepMostDenied(nowMs: number): void {
    const kept: number[] = []
    for (const clients of this.#members)
      for (const [key, { denied, lastMs }] of clients)
        if (nowMs - lastMs >= FORGOTTEN_MS) clients.delete(key)
        else kept.push(denied)
    const least = kept.sort((a, b) => b - a)[MAX_CLIENTS - 1] ?? 0
    // Of those denied as often as the last that stays, the latest to come may leave.
    let places = MAX_CLIENTS - kept.filter((denied) => denied > least).length
    this.#size = 0
    for (const clients of this.#members) {
      for (const [key, { denied }] of clients)
        if (denied < least || (denied === least && places-- <= 0)) clients.delete(key)
      this.#size += clients.size
    }
  }
}
