import { isMemoryStore, type MemoryStore } from '../stores/memory/memory-store.js'
import type { Store, Verdict } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import { TimeoutError, timeout } from '../util/timeout.js'
import { denialCacheOf, invalidateDenials, repeatDenials } from './denial-cache.js'
import { type GuardedStore, type GuardOptions, guardStore } from './guarded-store.js'
import { type LeaseSettings, leasingStore } from './lease/leasing-store.js'

/** How a store is protected. */
export interface ProtectOptions extends GuardOptions {
  /** 0 = the store decides every denial. */
  readonly denyCacheMs: number
  readonly lease: LeaseSettings | undefined
}

/** A store with all that protects it. */
export interface ProtectedStore extends GuardedStore {
  /** Waits for pending calls and closes what the store opened itself, each for `timeoutMs` at most. */
  close(): Promise<void>
}

/**
 * Creates the protection of a store. A charge passes in this order: leased units, the denial cache, the guard with its time-out and
 * circuit breaker. Memory needs none of them.
 */
export function protectStore(
  store: Store,
  { denyCacheMs, lease, ...guarding }: ProtectOptions,
): ProtectedStore {
  if (isMemoryStore(store)) return directStore(store)
  const denials = denialCacheOf(store)
  const invalidating = invalidateDenials(store, denials)
  const leasing = lease && leasingStore(invalidating, lease)
  const maxMs = lease ? Math.min(denyCacheMs, lease.holdMs) : denyCacheMs // other processes return leased units so often
  const guarded = guardStore(leasing ?? invalidating, guarding)
  const cached = repeatDenials(guarded, denials, maxMs)
  return {
    ...cached,
    ...(leasing && {
      charge: (charge, sinceMs) => leasing.consume(charge) ?? cached.charge(charge, sinceMs),
    }),
    async close() {
      const inTime = timeout(guarding.timeoutMs)
      await inTime(guarded.settled()).catch(ignoreTimeout)
      await inTime(Promise.resolve((leasing ?? store).close?.())).catch(ignoreTimeout)
    },
  }
}

function ignoreTimeout(error: unknown): void {
  if (!(error instanceof TimeoutError)) throw error
}

/** Creates a memory store's protection: it answers at once. What a clock or a policy of the user throws is a `StoreError`. */
function directStore(store: MemoryStore): ProtectedStore {
  return {
    name: store.name,
    state: () => 'closed',
    charge(charge) {
      try {
        return store.charge([charge])[0] as Verdict
      } catch (cause) {
        throw asStoreError(store.name, cause)
      }
    },
    refund(refunds) {
      try {
        store.refund(refunds)
      } catch (cause) {
        throw asStoreError(store.name, cause)
      }
    },
    forget: store.forget,
    settled: async () => {},
    close: async () => {},
  }
}
