import type { FallbackStore } from '../resilience/fallback-store.js'
import { CLOSED, type Decision, decisionOf, type NamedPart, OPEN, refundsByName } from './decision.js'
import type { StoreErrorChoice } from './options.js'

/** What decides in place of a store that failed. */
export interface LocalFallback {
  readonly fallback: FallbackStore
  /** The share of each limit that this process may allow. */
  readonly share: number
}

/**
 * Returns the decision on a charge that the store could not decide. An answer that comes after its deadline
 * is dropped: what the store took for it stays taken.
 */
export function decideWithoutStore(
  { fallback, share }: LocalFallback,
  choice: StoreErrorChoice,
  charge: readonly NamedPart[],
): Decision {
  if (choice === 'allow') return OPEN
  if (choice === 'deny') return CLOSED
  const { verdict, parts } = fallback.charge(charge, share)
  return decisionOf(parts, verdict, 'local', (limits) =>
    fallback.refund(refundsByName(parts, verdict, limits)),
  )
}
