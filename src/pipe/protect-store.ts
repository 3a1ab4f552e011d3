import { type MemoryInternals, type MemoryStore, memoryInternalsOf } from '../stores/memory/contract.js'
import type { Operation, Outcome } from '../stores/operation.js'
import { FORGOTTEN } from '../stores/shared/apply-operation.js'
import { checkDenialTimes } from '../stores/shared/validate.js'
import type { Store } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import { denialCacheOf, repeatDenials } from './denial-cache.js'
import { type GuardedStore, type GuardOptions, guardStore } from './guarded-store.js'
import { decideLocallyFirst } from './local-decisions.js'

interface ProtectOptions extends GuardOptions {
  /** The longest that a denial is cached. 0 = no cache: the store decides every charge. */
  readonly denyCacheMs: number
}

/**
 * Creates the pipe that protects a store. An operation passes the store's local decisions, the denial cache,
 * the guard (its time-out and circuit breakers) and the batch. Memory needs none of them.
 */
export function protectStore(store: Store, { denyCacheMs, ...guardOptions }: ProtectOptions): GuardedStore {
  const memory = memoryInternalsOf(store)
  if (memory !== undefined) return directStore(store as MemoryStore, memory)
  if (store.denialTimes !== undefined) checkDenialTimes(`the store ${store.name}`, store.denialTimes)
  const { minMs, maxMs } = store.denialTimes ?? { minMs: 0, maxMs: denyCacheMs }
  const times = { minMs: Math.min(minMs, denyCacheMs), maxMs: Math.min(maxMs, denyCacheMs) }
  const guarded = guardStore(store, guardOptions)
  return decideLocallyFirst(repeatDenials(guarded, denialCacheOf(store), times), store)
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
