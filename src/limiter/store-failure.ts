import { scaleParts } from '../resilience/fallback-store.js'
import type { MemoryStore } from '../stores/memory/memory-store.js'
import type { Verdict } from '../stores/store.js'
import { CLOSED, chargeDecision, type Decision, type NamedPart, OPEN, selectRefunds } from './decision.js'
import type { StoreErrorChoice } from './options.js'

/**
 * Returns the decision on a charge that the store could not decide: with `'local'` by the fallback store,
 * which has `share` of each limit. An answer of the store that comes later is dropped: what it took stays
 * taken.
 */
export function decideWithoutStore(
  choice: StoreErrorChoice,
  charge: readonly NamedPart[],
  fallback: MemoryStore,
  share: number,
): Decision {
  if (choice === 'allow') return OPEN
  if (choice === 'deny') return CLOSED
  const parts = scaleParts(charge, share)
  const [verdict] = fallback.charge([parts]) as [Verdict]
  return chargeDecision(parts, verdict, 'local', (...taken) => fallback.refund(selectRefunds(...taken)))
}
