import { type MemoryInternals, type MemoryStore, memoryInternalsOf } from '../stores/memory/contract.js'
import type { Operation, Outcome } from '../stores/operation.js'
import { FORGOTTEN } from '../stores/shared/apply-operation.js'
import type { Store } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import { denialCacheOf, repeatDenials } from './denial-cache.js'
import { type GuardedStore, type GuardOptions, guardStore } from './guarded-store.js'
import { type LeaseSettings, leasingStore } from './lease/leasing-store.js'

interface ProtectOptions extends GuardOptions {
  /** The longest that a denial is cached. 0 = no cache: the store decides every charge. */
  readonly denyCacheMs: number
  readonly lease: LeaseSettings | undefined
}

/**
 * With leases, the shortest time that a denial is cached, as a share of `holdMs`. Without it, a key at its
 * limit would call the store for every unit that comes back.
 */
const MIN_DENIAL_SHARE = 1 / 20

/**
 * Creates the pipe that protects a store. An operation passes the leased units, the denial cache, the guard
 * (its time-out and circuit breakers) and the batch. Memory needs none of them.
 */
export function protectStore(
  store: Store,
  { denyCacheMs, lease, ...guardOptions }: ProtectOptions,
): GuardedStore {
  const memory = memoryInternalsOf(store)
  if (memory !== undefined) return directStore(store as MemoryStore, memory)
  const leasing = lease && leasingStore(store, lease)
  const maxMs = Math.min(denyCacheMs, lease?.holdMs ?? denyCacheMs) // leased units come back that often
  const minMs = Math.min(maxMs, (lease?.holdMs ?? 0) * MIN_DENIAL_SHARE)
  const guarded = guardStore(leasing ?? store, guardOptions)
  const repeating = repeatDenials(guarded, denialCacheOf(store), { maxMs, minMs })
  return leasing === undefined ? repeating : leasing.consumeFirst(repeating)
}

/** Creates the protection of memory: makes a `StoreError` of what a user's clock or policy throws. */
function directStore(store: MemoryStore, memory: MemoryInternals): GuardedStore {
  function send(operation: Operation): Outcome {
    try {
      if (operation.type === 'charge') return memory.charge(operation.parts)
      if (operation.type !== 'forget') return store.apply([operation])[0] as Outcome
      memory.forget(operation)
      return FORGOTTEN
    } catch (cause) {
      return asStoreError(store.name, cause)
    }
  }
  return {
    name: store.name,
    state: () => 'closed',
    probeKeys: (key) => [key],
    send: send as GuardedStore['send'],
    close: async () => {},
  }
}
