import { oldestOf } from './oldest-of.js'
import { type Tenant, tenantAt } from './tenant.js'

/** A tenant is new for this time after its first admitted request, and until this many were admitted. */
const NEW_MS = 5000
const NEW_ADMITTED = 20

/**
 * For this time after a denial of a new tenant, new tenants are crowded. Then one gets its own share per
 * interval.
 */
const CROWDED_MS = 5000
const CROWDED_EVERY_MS = 10_000

/** The most tenants that are new. */
const MAX_NEW = 10_000

/** A tenant that is new. */
interface Newcomer {
  /** When its first request was admitted. */
  readonly seenAtMs: number
  admitted: number
}

/**
 * The tenants that do not have their own share yet. They have one together, so inventing names gains
 * nothing. A new share takes from those of all known tenants. So while new tenants are denied, few of them
 * get one, and invented names that stay gain little. Tenants of the first seconds after a start are not held
 * back: no tenant is older.
 *
 * A name is remembered once a request was admitted. If there are too many, the name with fewer admitted
 * requests of the two oldest is forgotten, so names that are invented for one request each forget one
 * another.
 */
export class NewTenants {
  readonly #weightOf: (id: string) => number
  readonly #tenants = new Map<string, Newcomer>()
  readonly #nextOldest = oldestOf(this.#tenants)
  #firstMs: number | undefined
  #deniedAtMs = Number.NEGATIVE_INFINITY
  #leftAtMs = Number.NEGATIVE_INFINITY

  constructor(weightOf: (id: string) => number) {
    this.#weightOf = weightOf
  }

  /** Counts a request that was admitted. */
  recordAdmission(id: string, nowMs: number): void {
    const newcomer = this.#tenants.get(id)
    if (newcomer !== undefined) {
      newcomer.admitted++
      return
    }
    if (this.#tenants.size >= MAX_NEW) this.#forgetOne()
    this.#tenants.set(id, { seenAtMs: nowMs, admitted: 1 })
  }

  /** Records that a request of a new tenant was denied. */
  recordDenial(nowMs: number): void {
    this.#deniedAtMs = nowMs
  }

  /**
   * Returns a tenant that is to get its own share now, if `makeRoom` returns true. Throws for a wrong weight,
   * and also if the tenant is not remembered yet, so that its first request shows the mistake.
   */
  take(id: string, nowMs: number, makeRoom: () => boolean): Tenant | undefined {
    this.#firstMs ??= nowMs
    const newcomer = this.#tenants.get(id)
    if (newcomer === undefined) {
      this.#weightOf(id)
      return undefined
    }
    const { admitted, seenAtMs } = newcomer
    if (admitted < NEW_ADMITTED || nowMs - seenAtMs < NEW_MS) return undefined
    const wasThereAtStart = seenAtMs - this.#firstMs < NEW_MS
    if (!wasThereAtStart && this.#isCrowded(nowMs)) return undefined
    const tenant = tenantAt(id, this.#weightOf(id), seenAtMs)
    if (!makeRoom()) return undefined
    this.#leftAtMs = nowMs
    this.#tenants.delete(id)
    return tenant
  }

  #forgetOne(): void {
    const [one = '', other = ''] = [this.#nextOldest(), this.#nextOldest()]
    const [first, second] = [this.#tenants.get(one), this.#tenants.get(other)]
    if (first === undefined || second === undefined) return
    this.#tenants.delete(one)
    this.#tenants.delete(other)
    if (first.admitted > second.admitted) this.#tenants.set(one, first)
    else this.#tenants.set(other, second)
  }

  #isCrowded(nowMs: number): boolean {
    return nowMs - this.#deniedAtMs < CROWDED_MS && nowMs - this.#leftAtMs < CROWDED_EVERY_MS
  }
}
