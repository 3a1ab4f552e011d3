/** A tenant, or all tenants that are new. */
export interface Tenant {
  readonly id: string
  readonly givenWeight: number
  /** The part of it that counts in this process. */
  weight: number
  /** Places that its requests hold. */
  held: number
  /** The places that it held times milliseconds, up to a time, since `takeUse`. */
  used: number
  usedToMs: number
  /** What is left of its budget, in places times milliseconds, and when it was refilled. */
  budget: number
  refilledAtMs: number
  triedAtMs: number
  isActive: boolean
  demerits: number
  demeritsAtMs: number
}

/** Demerits that a tenant loses each second. */
const DECAY_PER_SECOND = 0.3

/** Returns a tenant whose first request was admitted at a time: its budget refills from then on. */
export function tenantAt(id: string, weight: number, seenAtMs: number): Tenant {
  const tried = {
    held: 0,
    used: 0,
    usedToMs: seenAtMs,
    budget: 0,
    refilledAtMs: seenAtMs,
    triedAtMs: seenAtMs,
    isActive: false,
  }
  return { id, givenWeight: weight, weight, demerits: 0, demeritsAtMs: seenAtMs, ...tried }
}

/** Takes what a tenant has used until now from its budget. */
export function addUse(tenant: Tenant, nowMs: number): void {
  const used = tenant.held * (nowMs - tenant.usedToMs)
  tenant.used += used
  tenant.budget -= used
  tenant.usedToMs = nowMs
}

export function demeritsAt({ demerits, demeritsAtMs }: Tenant, nowMs: number): number {
  return Math.max(0, demerits - ((nowMs - demeritsAtMs) / 1000) * DECAY_PER_SECOND)
}
