import { consecutive } from '../policies/consecutive.js'
import type { BreakerState } from '../resilience/circuit-breaker.js'
import type { GuardedStore } from '../resilience/guarded-store.js'
import type { Part } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'

/** How a limiter's store is. */
export interface Health {
  /** Whether it answered. */
  readonly isHealthy: boolean
  /** The store's name, such as `'redis'`. */
  readonly store: string
  /** Whether charges ask it: `'closed'` = all do, `'open'` = none for a moment, `'half-open'` = one probes it. */
  readonly state: BreakerState
  /** How long it took to answer, in milliseconds. */
  readonly tookMs: number
  /** Why it is not healthy. */
  readonly cause?: StoreError
}

/** Asks about a key, which nobody charges, so that nothing is taken. As all charges do, it may be the one that probes a store which failed. */
export async function healthOf(store: GuardedStore, key: string): Promise<Health> {
  const nobody: Part = { key, policy: consecutive({ limit: 1 }), cost: 0 }
  const fromMs = performance.now()
  const told = (rest: { isHealthy: boolean; cause?: StoreError }): Health => {
    return { ...rest, store: store.name, state: store.state(), tookMs: performance.now() - fromMs }
  }
  try {
    await store.charge([nobody])
    return told({ isHealthy: true })
  } catch (cause) {
    return told({ isHealthy: false, cause: cause as StoreError })
  }
}
