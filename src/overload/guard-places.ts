import type { AdaptiveLimit } from './adaptive-limit.js'
import { CRITICAL } from './cohorts.js'
import type { FairShares } from './fair-shares.js'
import type { Tenant } from './tenant.js'
import { isRankWithinShare, type Ticket } from './ticket.js'

export interface GuardPlacesOptions {
  readonly limit: AdaptiveLimit
  /** The share of places that only critical requests may take. */
  readonly criticalShare: number
  readonly tenants?: FairShares | undefined
}

/** After the last critical request, places are kept for others for this time. */
const KEEP_CRITICAL_MS = 60_000

/** The share of places that tenants beyond their shares leave free while others need theirs. */
const KEPT_FOR_SHARES = 0.2

/**
 * The places of a guard, as many as its limit: how many are taken, by which tenants, and who may take
 * another one.
 */
export class GuardPlaces {
  readonly #limit: AdaptiveLimit
  readonly #criticalShare: number
  readonly #tenants: FairShares | undefined
  #taken = 0
  #criticalAtMs = Number.NEGATIVE_INFINITY

  constructor({ limit, criticalShare, tenants }: GuardPlacesOptions) {
    this.#limit = limit
    this.#criticalShare = criticalShare
    this.#tenants = tenants
  }

  get taken(): number {
    return this.#taken
  }

  get areMostFree(): boolean {
    return this.#taken < this.#limit.current / 2
  }

  /** Returns the tenant with a name, and makes it active; `undefined` without a name. */
  enter(tenantId: string | undefined, nowMs: number): Tenant | undefined {
    return tenantId === undefined ? undefined : this.#tenants?.enter(tenantId, nowMs)
  }

  /** Records that a critical request has come. For a while, places are kept for others like it. */
  recordCritical(nowMs: number): void {
    this.#criticalAtMs = nowMs
  }

  /** Records that a request was denied. In a probe, that says nothing about its tenant. */
  recordDenial({ tenant }: Ticket, nowMs: number): void {
    if (tenant && !this.#limit.isProbing) this.#tenants?.recordDenial(tenant, this.#limit.limit, nowMs)
  }

  /** Returns whether a request is within the share of its tenant. Without a tenant, it is. */
  isWithinShare({ tenant }: Ticket, nowMs: number): boolean {
    return tenant === undefined || this.#tenants?.isWithinShare(tenant, this.#limit.limit, nowMs) !== false
  }

  /** Returns whether there is a place that a request may take, by its class, its rank and its tenant. */
  isAnyFor(ticket: Ticket, nowMs: number): boolean {
    const { current, limit } = this.#limit
    let most = current
    if (ticket.priority === CRITICAL) most = Math.max(current, limit * this.#criticalShare)
    else if (nowMs - this.#criticalAtMs < KEEP_CRITICAL_MS) most *= 1 - this.#criticalShare
    if (!isRankWithinShare(ticket.rank) && this.#isOverCap(ticket, nowMs)) most *= 1 - KEPT_FOR_SHARES
    return this.#taken < Math.max(1, most === current ? current : Math.floor(most))
  }

  take({ tenant, tenantId = '' }: Ticket, nowMs: number): void {
    this.#taken++
    if (tenant) this.#tenants?.takePlace(tenant, tenantId, nowMs)
  }

  giveBack({ tenant }: Ticket, nowMs: number): void {
    this.#taken--
    if (tenant) this.#tenants?.returnPlace(tenant, nowMs)
  }

  #isOverCap({ tenant }: Ticket, nowMs: number): boolean {
    if (tenant === undefined || this.#tenants === undefined) return false
    return tenant.held >= this.#tenants.capOf(tenant, this.#limit.limit, nowMs)
  }
}
