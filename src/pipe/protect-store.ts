import type { Operation, Outcome } from '../stores/operation.js'
import { localStatesOf } from '../stores/shared/local-states.js'
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
 * (its time-out and circuit breakers) and the batch. A store whose states are in this process needs none of them.
 */
export function protectStore(
  store: Store,
  { denyCacheMs, lease, ...guardOptions }: ProtectOptions,
): GuardedStore {
  if (localStatesOf(store) !== undefined) return localPipe(store)
  const leasing = lease && leasingStore(store, lease)
  const maxMs = Math.min(denyCacheMs, lease?.holdMs ?? denyCacheMs) // leased units come back that often
  const minMs = Math.min(maxMs, (lease?.holdMs ?? 0) * MIN_DENIAL_SHARE)
  const guarded = guardStore(leasing ?? store, guardOptions)
  const repeating = repeatDenials(guarded, denialCacheOf(store), { maxMs, minMs })
  return leasing === undefined ? repeating : leasing.consumeFirst(repeating)
}

/** Creates the pipe to a store whose states are in this process. What a user's clock throws becomes an outcome. */
function localPipe(store: Store): GuardedStore {
  function send(operation: Operation): Outcome {
    try {
      const [outcome] = store.apply([operation]) as readonly Outcome[]
      return outcome as Outcome
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
