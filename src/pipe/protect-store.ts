import { isMemoryStore } from '../stores/memory/contract.js'
import type { Operation, Outcome } from '../stores/operation.js'
import { localStatesOf } from '../stores/shared/local-states.js'
import { checkDenialTimes } from '../stores/shared/validate.js'
import { onlyOutcome } from '../stores/shared/validate-outcome.js'
import type { Store } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import { TimeoutError, timeout } from '../util/timeout.js'
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
  if (localStatesOf(store) !== undefined) return localPipe(store, guardOptions)
  if (store.denialTimes !== undefined) checkDenialTimes(`the store ${store.name}`, store.denialTimes)
  const { minMs, maxMs } = store.denialTimes ?? { minMs: 0, maxMs: denyCacheMs }
  const times = { minMs: Math.min(minMs, denyCacheMs), maxMs: Math.min(maxMs, denyCacheMs) }
  const guarded = guardStore(store, guardOptions)
  return decideLocallyFirst(repeatDenials(guarded, denialCacheOf(store), times), store)
}

/**
 * Creates the pipe to a store whose states are in this process. What a user's clock throws becomes an
 * outcome.
 */
function localPipe(store: Store, { timeoutMs }: GuardOptions): GuardedStore {
  const isOurs = isMemoryStore(store)
  function send(operation: Operation): Outcome {
    try {
      const outcomes = store.apply([operation]) as readonly Outcome[]
      return isOurs ? (outcomes[0] as Outcome) : onlyOutcome(store, operation, outcomes)
    } catch (cause) {
      return asStoreError(store.name, cause)
    }
  }
  return {
    name: store.name,
    state: () => 'closed',
    probeKeys: (key) => [key],
    send: send as GuardedStore['send'],
    async close() {
      if (store.close === undefined) return
      try {
        await timeout(timeoutMs)(store.close())
      } catch (error) {
        if (!(error instanceof TimeoutError)) throw error
      }
    },
  }
}
