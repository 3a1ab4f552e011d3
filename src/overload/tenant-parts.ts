/** What a process has told of its tenants: by their keys, how many places each of them holds on average. */
export interface ProcessUse {
  /** How many requests may run at once in the process. */
  readonly limit: number
  readonly uses: ReadonlyMap<string, number>
}

/** Each tenant is credited with this many extra places, spread over processes by their size. */
const EVEN_PLACES = 1

/** From one round to the next, a factor above 1 grows at most by this. It falls at once. */
const MAX_GROWTH = 1.5

/**
 * Divides the weight of each tenant among the processes in which it has requests, by the places that it uses
 * in each. So its share is one of the places of all processes, and the shares of a process never add up to
 * more than its own places. This is the proportional response of a market in which tenants bid their weights
 * for places (Wu and Zhang, "Proportional Response Dynamics Leads to Market Equilibrium", 2007).
 *
 * Weights compare tenants of one process only. So a tenant that uses all processes alike keeps its weight,
 * and so does one of which nothing is known. One that uses only one of four has four times its weight there.
 */
export class TenantParts {
  readonly #own: ProcessUse
  readonly #elsewhere = new Map<string, number>()
  /** What part of the places of all processes is in this one. */
  readonly #placesPart: number

  constructor(own: ProcessUse, others: readonly ProcessUse[]) {
    this.#own = own
    let limit = own.limit
    for (const other of others) {
      limit += other.limit
      for (const [key, use] of other.uses) this.#elsewhere.set(key, (this.#elsewhere.get(key) ?? 0) + use)
    }
    this.#placesPart = own.limit / limit
  }

  /** Returns by what the weight of a tenant is multiplied in this process, given the last factor. */
  factorOf(key: string, before: number): number {
    const [here, elsewhere] = [this.#own.uses.get(key) ?? 0, this.#elsewhere.get(key) ?? 0]
    const even = EVEN_PLACES + here + elsewhere
    return Math.min(Math.max(1, before * MAX_GROWTH), (EVEN_PLACES + here / this.#placesPart) / even)
  }
}
