import { consecutive } from '../policies/consecutive.js'
import type { BreakerState } from '../resilience/circuit-breaker.js'
import type { GuardedStore } from '../resilience/guarded-store.js'
import type { Part, Verdict } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'
import { fromCallback } from '../util/maybe-promise.js'

/** The health of a limiter's store. */
export interface Health {
  /** Whether the store answered. */
  readonly isHealthy: boolean
  /** The store's name, such as `'redis'`. */
  readonly store: string
  /** The circuit breaker of the store: `'closed'` = all charges reach it, `'open'` = none for a moment. */
  readonly state: BreakerState
  /** How long the store took to answer, in milliseconds. */
  readonly tookMs: number
  /** Why the store is not healthy; `undefined` where it is. */
  readonly cause: StoreError | undefined
}

/** Returns the health of a store by a peek at `key`. Like any call, it may be the breaker's probe. */
export async function healthOf(store: GuardedStore, key: string): Promise<Health> {
  const peek: Part = { key, policy: consecutive({ limit: 1 }), cost: 0 }
  const sinceMs = performance.now()
  let cause: StoreError | undefined
  try {
    await fromCallback<Verdict>((settle) => store.charge([peek], settle))
  } catch (error) {
    cause = error as StoreError // a guarded store fails with nothing else
  }
  const tookMs = performance.now() - sinceMs
  return { isHealthy: cause === undefined, store: store.name, state: store.state(), tookMs, cause }
}
