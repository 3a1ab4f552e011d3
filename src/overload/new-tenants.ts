import { dropperOf } from './drop-oldest.js'
import { type Tenant, tenantAt } from './tenant.js'

/** A tenant is new until it has been known for this time, with so many requests admitted. */
const NEW_MS = 5000
const NEW_ADMITTED = 20

/** After a request of a new tenant was denied, they are crowded for this time: one leaves in each interval. */
const CROWDED_MS = 5000
const CROWDED_EVERY_MS = 10_000

/** The most tenants that are new. */
const MAX_NEW = 10_000

/**
 * The tenants that have no share of their own yet. They have one together, so inventing names gains nothing.
 * While any of them is denied, few get their own, since each takes from the shares of all known tenants: so
 * invented names that stay gain little. Tenants that were there when the guard started are as old as any.
 */
export class NewTenants {
  readonly #weightOf: (id: string) => number
  readonly #tenants = new Map<string, Tenant>()
  readonly #dropOldest = dropperOf(this.#tenants)
  #firstMs: number | undefined
  #deniedAtMs = Number.NEGATIVE_INFINITY
  #leftAtMs = Number.NEGATIVE_INFINITY

  constructor(weightOf: (id: string) => number) {
    this.#weightOf = weightOf
  }

  /** Counts a request that was admitted. */
  admitted(id: string): void {
    const tenant = this.#tenants.get(id)
    if (tenant !== undefined) tenant.admitted++
  }

  /** A request was denied. */
  denied(nowMs: number): void {
    this.#deniedAtMs = nowMs
  }

  /** Returns a tenant that is to get its own share now, if `hasRoom` returns true. Remembers any other. */
  take(id: string, nowMs: number, hasRoom: () => boolean): Tenant | undefined {
    this.#firstMs ??= nowMs
    const tenant = this.#tenants.get(id)
    if (tenant === undefined) {
      if (this.#tenants.size >= MAX_NEW) this.#dropOldest()
      this.#tenants.set(id, tenantAt(id, this.#weightOf(id), nowMs))
      return undefined
    }
    if (tenant.admitted < NEW_ADMITTED || nowMs - tenant.seenAtMs < NEW_MS) return undefined
    const wasThereAtStart = tenant.seenAtMs - this.#firstMs < NEW_MS
    if ((!wasThereAtStart && this.#isCrowded(nowMs)) || !hasRoom()) return undefined
    this.#leftAtMs = nowMs
    this.#tenants.delete(id)
    return tenant
  }

  #isCrowded(nowMs: number): boolean {
    return nowMs - this.#deniedAtMs < CROWDED_MS && nowMs - this.#leftAtMs < CROWDED_EVERY_MS
  }
}
