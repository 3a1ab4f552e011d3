import { NewTenants } from './new-tenants.js'
import { oldestOf } from './oldest-of.js'
import { addUse, demeritsAt, type Tenant, tenantAt } from './tenant.js'

/** A tenant is active for this time after its last request. */
const ACTIVE_MS = 5000

/** After a denial of a tenant within its share, all others keep to theirs for this time. */
const CONTENTION_MS = 5000

/** A tenant may save its share for this time, and owe this much: places times milliseconds. */
const BUDGET_MS = 5000
const MAX_DEBT_MS = 5000

/** A tenant is forgiven this many in 100 s. More are not counted, so that it is at some time. */
const MOST_DEMERITS = 30

/** From this many demerits on, a tenant is held below its share. */
const HELD_DOWN_FROM = 3

/** The most tenants with their own shares that are remembered. */
const MAX_KNOWN = 10_000

/**
 * Divides the places of a guard among its tenants, after atlas' FairShareLimiter, with weights and budgets:
 *
 * - A tenant is active while it holds places, and for 5 s after its last request. Its share is the limit by
 *   its weight among those of all active tenants. It is a budget that refills all the time, since a tenant
 *   that comes late must not find the share of a window used up, and since a share may be less than a place.
 * - While no tenant within its share is denied, every tenant may take what is free. For 5 s after such a
 *   denial, the others keep to their shares.
 * - A denial beyond the share is a demerit. Demerits decay by 0.3 a second. From 3 on, a tenant keeps to
 *   its share minus its demerits while others contend.
 *
 * All new tenants have one share together (`NewTenants`). On average, a decision takes the same time for any
 * number of tenants.
 */
export class FairShares {
  /** Tenants with their own shares. Each request visits two of the active ones, in turn. */
  readonly #active = new Map<string, Tenant>()
  #visits = this.#active.values()
  readonly #resting = new Map<string, Tenant>()
  readonly #oldestResting = oldestOf(this.#resting)
  readonly #new: NewTenants
  /** All new tenants, as one. */
  readonly #newcomers: Tenant = tenantAt('', 1, 0)
  #activeWeight = 0
  /** The last denials within a share, of two tenants. */
  readonly #contenders: { tenant: Tenant; atMs: number }[] = []

  constructor(weightOf: (id: string) => number) {
    this.#new = new NewTenants(weightOf)
  }

  /** Returns the tenant of a request, and makes it active: the one with this name, or the newcomers. */
  enter(id: string, nowMs: number): Tenant {
    this.#expire(nowMs)
    const tenant =
      this.#active.get(id) ?? this.#resting.get(id) ?? this.#new.take(id, nowMs, () => this.#makeRoom())
    if (tenant === undefined) return this.#touch(this.#newcomers, nowMs)
    if (!tenant.isActive) {
      this.#resting.delete(id)
      this.#active.set(id, tenant)
    }
    return this.#touch(tenant, nowMs)
  }

  /** Returns a tenant's share in places. If there are more tenants than places, it is less than one. */
  shareOf(tenant: Tenant, limit: number): number {
    return (limit * tenant.weight) / Math.max(this.#activeWeight, tenant.weight)
  }

  /** Returns whether a tenant has used less than its share in the last seconds. */
  isWithinShare(tenant: Tenant, limit: number, nowMs: number): boolean {
    addUse(tenant, nowMs)
    const share = this.shareOf(tenant, limit)
    const refilled = tenant.budget + share * (nowMs - tenant.refilledAtMs)
    tenant.budget = Math.max(-MAX_DEBT_MS, Math.min(share * BUDGET_MS, refilled))
    tenant.refilledAtMs = nowMs
    return tenant.budget > 0 || tenant.held < Math.floor(share)
  }

  /** Returns the most places that a tenant beyond its share may hold now. */
  capOf(tenant: Tenant, limit: number, nowMs: number): number {
    if (!this.#isContended(tenant, nowMs)) return limit
    const share = Math.ceil(this.shareOf(tenant, limit))
    const demerits = demeritsAt(tenant, nowMs)
    return demerits >= HELD_DOWN_FROM ? Math.max(1, share - demerits) : share
  }

  takePlace(tenant: Tenant, id: string, nowMs: number): void {
    addUse(tenant, nowMs)
    tenant.held++
    if (tenant === this.#newcomers) this.#new.recordAdmission(id, nowMs)
  }

  returnPlace(tenant: Tenant, nowMs: number): void {
    addUse(tenant, nowMs)
    tenant.held--
  }

  recordDenial(tenant: Tenant, limit: number, nowMs: number): void {
    if (tenant === this.#newcomers) this.#new.recordDenial(nowMs)
    if (!this.isWithinShare(tenant, limit, nowMs)) {
      tenant.demerits = Math.min(MOST_DEMERITS, demeritsAt(tenant, nowMs) + 1)
      tenant.demeritsAtMs = nowMs
      return
    }
    if (demeritsAt(tenant, nowMs) >= HELD_DOWN_FROM) return
    const others = this.#contenders.filter((each) => each.tenant !== tenant)
    this.#contenders.splice(0, 2, { tenant, atMs: nowMs }, ...others.slice(0, 1))
  }

  /** Returns the tenants that are active, with all new ones as one. */
  active(): Iterable<Tenant> {
    return [this.#newcomers, ...this.#active.values()].filter(({ isActive }) => isActive)
  }

  /** Returns the places that a tenant has held since the last call, times milliseconds. */
  takeUse(tenant: Tenant, nowMs: number): number {
    addUse(tenant, nowMs)
    const { used } = tenant
    tenant.used = 0
    return used
  }

  /** Multiplies the weight that was given to a tenant, until it is idle. */
  setFactor(tenant: Tenant, factor: number): void {
    if (!tenant.isActive) return
    this.#activeWeight -= tenant.weight
    tenant.weight = tenant.givenWeight * factor
    this.#activeWeight += tenant.weight
  }

  /** Returns whether all new tenants have this one's share together. */
  areNew(tenant: Tenant): boolean {
    return tenant === this.#newcomers
  }

  /** Whether another tenant was denied within its share a moment ago. */
  #isContended(tenant: Tenant, nowMs: number): boolean {
    const other = this.#contenders.find((each) => each.tenant !== tenant)
    return other !== undefined && nowMs - other.atMs < CONTENTION_MS
  }

  #touch(tenant: Tenant, nowMs: number): Tenant {
    tenant.triedAtMs = nowMs
    if (!tenant.isActive) this.#activeWeight += tenant.weight
    tenant.isActive = true
    return tenant
  }

  /** Returns whether there is room for another tenant, by forgetting the oldest resting one if need be. */
  #makeRoom(): boolean {
    if (this.#active.size + this.#resting.size < MAX_KNOWN) return true
    const oldest = this.#oldestResting()
    return oldest !== undefined && this.#resting.delete(oldest)
  }

  /**
   * Retires up to two tenants that have been idle. That is enough, since a request makes at most one active.
   */
  #expire(nowMs: number): void {
    this.#restIfIdle(this.#newcomers, nowMs)
    for (let visited = 0; visited < 2; visited++) {
      const { value: tenant } = this.#visits.next()
      if (tenant === undefined) this.#startSweep()
      else if (this.#restIfIdle(tenant, nowMs)) {
        this.#active.delete(tenant.id)
        this.#resting.set(tenant.id, tenant)
      }
    }
  }

  /**
   * Starts the next sweep of the active tenants. Adds up their weights, so that no rounding error outlasts a
   * sweep.
   */
  #startSweep(): void {
    this.#visits = this.#active.values()
    let sum = this.#newcomers.isActive ? this.#newcomers.weight : 0
    for (const { weight } of this.#active.values()) sum += weight
    this.#activeWeight = sum
  }

  #restIfIdle(tenant: Tenant, nowMs: number): boolean {
    if (!tenant.isActive || tenant.held > 0 || nowMs - tenant.triedAtMs < ACTIVE_MS) return false
    tenant.isActive = false
    this.#activeWeight -= tenant.weight
    tenant.weight = tenant.givenWeight
    tenant.used = 0
    return true
  }
}
