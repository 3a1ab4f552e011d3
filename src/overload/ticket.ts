import type { Epoch } from './epochs.js'
import type { Tenant } from './tenant.js'

/** What a guard knows about a request. */
export interface Entry {
  /** The index of its class in `PRIORITIES`. */
  readonly priority: number
  /** A hash of its client, 32 bits. */
  readonly client: number
  /** The name of its tenant. Absent if the guard has no tenants. */
  readonly tenantId?: string | undefined
  /**
   * Called once if the request had to wait: with true when it gets a place, with false when it is denied.
   */
  settle(isAdmitted: boolean): void
}

/** A request that has a place, or waits for one. */
export interface Ticket extends Entry {
  arrivedAtMs: number
  tenant: Tenant | undefined
  /** Its place in the order of serving: see `rankOf`. */
  rank: number
  state: 'waiting' | 'running' | 'over'
  startedAtMs: number
  epoch: Epoch
}

export type Verdict = 'admitted' | 'waiting' | 'denied'

/**
 * Returns the rank of a request. Higher ranks are served first: by class, and within a class, tenants within
 * their shares before others. A flooding client's excess ranks like a tenant beyond its share.
 */
export const rankOf = (priority: number, isWithinShare: boolean): number =>
  2 * priority + Number(isWithinShare)

/**
 * Returns whether a rank is the higher one of its class. Its requests are within the shares of their tenants
 * or, without a tenant, not excess of their clients.
 */
export const isRankWithinShare = (rank: number): boolean => rank % 2 === 1
