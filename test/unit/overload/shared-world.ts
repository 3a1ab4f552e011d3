import type { Documents } from 'headgate/store'
import { FairShares } from '../../../src/overload/fair-shares.js'
import { ROUND_MS, SharedShares } from '../../../src/overload/shared-shares.js'
import type { Tenant } from '../../../src/overload/tenant.js'

const STEP_MS = 250

/** A guard's shares in one of the processes. */
export interface Sharer {
  readonly shares: FairShares
  readonly shared: SharedShares
  /** When in each second its rounds are. */
  readonly phaseMs: number
  readonly tenants: Map<string, Tenant>
}

/** How many places a tenant holds in a process, by the number of the process. */
export type Demand = (process: number, tenant: string, nowMs: number) => number

/** Processes with shared shares, in virtual time. */
export class SharedWorld {
  nowMs = 0
  readonly sharers: Sharer[] = []
  readonly #weightOf: (id: string) => number

  constructor(weightOf: (id: string) => number = () => 1) {
    this.#weightOf = weightOf
  }

  /** Starts a process in which these tenants are known. */
  start(documents: Documents, tenants: readonly string[], { limit = 10, phaseMs = 0 } = {}): Sharer {
    const shares = new FairShares(this.#weightOf)
    const options = { store: 'test', documents, key: 'hg:overload:api', shares }
    const shared = new SharedShares({ ...options, limit: () => limit, now: () => this.nowMs })
    const known = new Map(tenants.map((id) => [id, this.#introduce(shares, id)]))
    const sharer = { shares, shared, phaseMs, tenants: known }
    this.sharers.push(sharer)
    return sharer
  }

  /** Lets time pass, in which tenants hold places. Calls `see` after each step. */
  async run(durationMs: number, demand: Demand, see: () => void = () => {}): Promise<void> {
    for (const endMs = this.nowMs + durationMs; this.nowMs < endMs; this.nowMs += STEP_MS) {
      for (const [i, { shares, tenants }] of this.sharers.entries())
        for (const [id, tenant] of tenants) hold(shares, tenant, demand(i, id, this.nowMs), this.nowMs)
      await this.rounds()
      see()
    }
  }

  /** Has those take a round whose turn it is. */
  async rounds(): Promise<void> {
    for (const { shared, phaseMs } of this.sharers)
      if (this.nowMs % ROUND_MS === phaseMs) await shared.round()
  }

  /** Returns by how much the weight of a tenant counts in each process. */
  factors(id: string): number[] {
    return this.sharers.map(({ tenants }) => {
      const { weight, givenWeight } = tenants.get(id) as Tenant
      return weight / givenWeight
    })
  }

  /** Makes a tenant known, as it is after some seconds with some requests. */
  #introduce(shares: FairShares, id: string): Tenant {
    const [atMs, knownAtMs] = [this.nowMs - 10_000, this.nowMs - 5000]
    for (let i = 0; i < 20; i++) {
      const tenant = shares.enter(id, atMs)
      shares.takePlace(tenant, id, atMs)
      shares.returnPlace(tenant, atMs)
    }
    return shares.enter(id, knownAtMs)
  }
}

/** Has a tenant hold a number of places from now on. It tries all the time. */
function hold(shares: FairShares, tenant: Tenant, places: number, nowMs: number): void {
  shares.enter(tenant.id, nowMs)
  while (tenant.held < places) shares.takePlace(tenant, tenant.id, nowMs)
  while (tenant.held > places) shares.returnPlace(tenant, nowMs)
}
