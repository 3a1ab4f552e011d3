import type { Policy } from '../policies/policy.js'
import { createMemory } from '../stores/memory/create-memory.js'
import type { Part } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { weakMemo } from '../util/memo.js'
import { processWide } from '../util/process-wide.js'

const MAX_KEYS = 250_000

/**
 * Returns the memory store that decides while `store` is down. Its states stay until they expire, even once
 * the store is back, so a store that keeps failing grants no second quota. Limiters that share keys in the
 * store share its fallback.
 */
export const fallbackStoreOf = processWide('fallbackStores', () =>
  weakMemo((_store: Store) => createMemory({ maxKeys: MAX_KEYS }).store),
)

/**
 * Creates a function that scales parts to a share of their limits. A cost above the scaled limit takes all
 * of it, unless the full limit would deny the cost as well.
 */
export function partScaler(share: number): <P extends Part>(parts: readonly P[]) => readonly P[] {
  const scale = weakMemo((policy: Policy) => (share === 1 ? policy : policy.scale(share)))
  return (parts) =>
    parts.map((part) => {
      const policy = scale(part.policy)
      const isNeverAllowed = part.cost > part.policy.limit
      return { ...part, policy, cost: isNeverAllowed ? part.cost : Math.min(part.cost, policy.limit) }
    })
}
