/** Called with the subject of a charge. Returns the watch for the next charge; `undefined` once it is over. */
export type Watch = (subject: unknown) => Watch | undefined

/**
 * The watches of a limiter that are not over, the latest last. After some charges, most limiters have none.
 */
export type Watches = Watch[]

/** Shows the subject of a charge to the watches of a limiter, and removes those that are over. */
export function showCharge(watches: Watches, subject: unknown): void {
  for (let i = watches.length - 1; i >= 0; i--) {
    const next = watches[i]?.(subject)
    if (next === undefined) watches.splice(i, 1)
    else watches[i] = next
  }
}
