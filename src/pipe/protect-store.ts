import { localStatesOf } from '../stores/shared/local-states.js'
import { pipeTo } from '../stores/shared/store-pipe.js'
import { checkDenialTimes } from '../stores/shared/validate.js'
import type { Store } from '../stores/store.js'
import { Deadlines } from '../util/timeout.js'
import { denialCacheOf, repeatDenials } from './denial-cache.js'
import { closeStore, type GuardedStore, type GuardOptions, guardStore } from './guarded-store.js'
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
  if (localStatesOf(store) !== undefined) return localPipe(store, guardOptions)
  if (store.denialTimes !== undefined) checkDenialTimes(`the store ${store.name}`, store.denialTimes)
  const { minMs, maxMs } = store.denialTimes ?? { minMs: 0, maxMs: denyCacheMs }
  const times = { minMs: Math.min(minMs, denyCacheMs), maxMs: Math.min(maxMs, denyCacheMs) }
  const guarded = guardStore(store, guardOptions)
  return decideLocallyFirst(repeatDenials(guarded, denialCacheOf(store), times), store)
}

/** Creates the pipe to a store whose states are in this process. It needs no guard. */
function localPipe(store: Store, { timeoutMs }: GuardOptions): GuardedStore {
  return {
    ...pipeTo(store),
    name: store.name,
    state: () => 'closed',
    probeKeys: (key) => [key],
    close: () => closeStore(store, new Deadlines(timeoutMs)),
  }
}
