import { isMemoryStore } from '../stores/memory/memory-store.js'
import type { Store } from '../stores/store.js'
import { denialCacheOf } from './denial-cache.js'
import { denyCache, freeingDenials } from './deny-cache.js'
import { type GuardedStore, type GuardOptions, guard } from './guarded-store.js'
import { type LeaseSettings, type LeasingStore, leasingStore } from './lease/leasing-store.js'
import { unguarded } from './unguarded.js'

/** What stands before a store. */
export interface ProtectOptions extends GuardOptions {
  /** 0 = the store is asked about every denial. */
  readonly denyCacheMs: number
  /** Left out = every unit is asked for. */
  readonly lease: LeaseSettings | undefined
}

/** A store with all that stands before it. */
export interface ProtectedStore {
  readonly store: GuardedStore
  /** Closes what was opened for it, and what it opened itself. */
  readonly close: () => Promise<void> | undefined
}

/**
 * A request passes the units that are leased, the denials that are known, and the guard with its deadline and breaker. Before memory
 * nothing stands.
 */
export function protectStore(
  store: Store,
  { denyCacheMs, lease, ...guarding }: ProtectOptions,
): ProtectedStore {
  if (isMemoryStore(store)) return { store: unguarded(store), close: () => undefined }
  const denials = denialCacheOf(store)
  const freeing = freeingDenials(store, denials)
  const leasing = lease && leasingStore(freeing, lease)
  const knownMs = lease ? Math.min(denyCacheMs, lease.holdMs) : denyCacheMs // others give back leased units so often
  const knowing = denyCache(guard(leasing ?? freeing, guarding), denials, knownMs)
  return {
    store: leasing ? consuming(knowing, leasing) : knowing,
    close: () => (leasing ?? store).close?.(),
  }
}

/** What is at hand is not for the guard to judge: it says nothing of how the store is. */
function consuming(store: GuardedStore, { consume }: LeasingStore): GuardedStore {
  return { ...store, charge: (charge, sinceMs) => consume(charge) ?? store.charge(charge, sinceMs) }
}
