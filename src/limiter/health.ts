import type { BreakerState } from '../pipe/breaker-state.js'
import type { LimiterPipe } from '../pipe/limiter-pipe.js'
import { request } from '../pipe/pipe.js'
import { bucketOfLimit } from '../policies/token-bucket.js'
import type { Charge } from '../stores/operation.js'
import type { StoreError } from '../stores/store-error.js'

/** The health of a limiter's store. */
export interface Health {
  /** Whether the store replied. If it has several servers, whether all that were asked replied. */
  readonly isHealthy: boolean
  /** The store's name, such as `'redis'`. */
  readonly store: string
  /**
   * The state of the circuit breaker of the store: `'closed'` if all charges reach it, `'open'` if none does
   * for a moment. Of several servers, the worst.
   */
  readonly state: BreakerState
  /** How long the store took to reply, in milliseconds. */
  readonly tookMs: number
  /**
   * Why the store is not healthy, or `undefined` if it is. If it has several servers, `cause.server` is the
   * one that failed.
   */
  readonly cause: StoreError | undefined
}

/**
 * Returns the health of a store by a peek at `key`, and at a similar key on each server whose circuit
 * breaker is not closed. Like any call, a peek may be the breaker's probe.
 */
export async function healthOf(store: LimiterPipe, key: string): Promise<Health> {
  const policy = bucketOfLimit('health', 1, 1000) // most limiters have a bucket, so Redis has its script
  const sinceMs = performance.now()
  const outcomes = await Promise.allSettled(
    store.probeKeys(key).map(async (each) => {
      await request<Charge>(store, { type: 'charge', parts: [{ key: each, policy, cost: 0 }] })
    }),
  )
  const failure = outcomes.find((outcome) => outcome.status === 'rejected')
  const cause: StoreError | undefined = failure?.reason // the pipe fails with nothing else
  const tookMs = performance.now() - sinceMs
  return { isHealthy: cause === undefined, store: store.name, state: store.state(), tookMs, cause }
}
