import { type ConcurrencyOptions, concurrencyPolicy } from '../../policies/concurrency.js'
import type { Policy } from '../../policies/policy.js'
import { HOLDINGS, type HoldingPolicy } from './held-by-decision.js'
import { createHoldings } from './hold-and-release.js'

/**
 * Creates a policy that limits units in use at once, such as requests in flight. A charge holds its units
 * until `limiter.release(decision)`. Middleware releases them when the response is over.
 *
 * **Bound.** At most `limit` units are held at once, as long as each process renews its units within `ttl`.
 * It first tries after an eighth of `ttl`, and then every sixteenth. Units are not renewed if their process
 * crashed or was cut off from the store, or if their client has left. They are free after `ttl`, at most an
 * eighth later.
 *
 * **Rules.** Those of other policies hold, with two exceptions: the retry time is a hint of one second, and
 * there is no rate. Units are released, not refunded. A denial is never cached, units are never leased, and
 * `ban` does not accept it.
 *
 * **Clock.** A step back frees nothing. Units that were taken before it may count for twice `ttl` and a
 * slice, even after they are released. A step forward of more than `ttl` frees all units, until their
 * renewal counts them again.
 *
 * **Change of numbers.** If the limit changes, held units stay held. The units under each `ttl` are counted
 * separately. So after a change of `ttl`, twice the limit may be in use until the old units are released.
 *
 * @example
 * ```ts
 * import { concurrency, rateLimit } from 'headgate'
 *
 * // At most 2 reports for each client at the same time.
 * const reports = rateLimit({ policy: concurrency({ limit: 2, ttl: '30s' }) })
 * ```
 */
export function concurrency(options: ConcurrencyOptions): Policy {
  return withHoldings(concurrencyPolicy(options))
}

/** Lets limiters hold the units of a policy. */
function withHoldings(policy: Policy): HoldingPolicy {
  const scale = (share: number) => withHoldings(policy.scale(share))
  return Object.freeze({ ...policy, [HOLDINGS]: createHoldings, scale })
}
