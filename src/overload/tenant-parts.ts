/** What a process has published about its tenants: how many places each holds on average, by its key. */
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
 * in each. So its share is a share of the places of all processes. The shares in a process never add up to
 * more than its own places. This is the proportional response of a market in which tenants bid their weights
 * for places (Wu and Zhang, "Proportional Response Dynamics Leads to Market Equilibrium", 2007).
 *
 * Weights compare tenants within one process. A tenant that uses all processes alike keeps its weight, as
 * does one about which nothing is known. A tenant that uses only one of four processes has four times its
 * weight there.
 */
export class TenantParts {
  readonly #own: ProcessUse
  readonly #elsewhere = new Map<string, number>()
  /** The part of the places of all processes that this one has. */
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

  /** Returns the factor of a tenant's weight in this process, given the last one. */
  factorOf(key: string, before: number): number {
    const [here, elsewhere] = [this.#own.uses.get(key) ?? 0, this.#elsewhere.get(key) ?? 0]
    const even = EVEN_PLACES + here + elsewhere
    return Math.min(Math.max(1, before * MAX_GROWTH), (EVEN_PLACES + here / this.#placesPart) / even)
  }
}
