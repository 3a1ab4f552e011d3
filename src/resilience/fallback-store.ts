import type { Policy } from '../policies/policy.js'
import { memoryStore } from '../stores/memory/memory-store.js'
import type { KeyedPolicy, Part, Refund, Store, Verdict } from '../stores/store.js'

/** The keys that a process keeps for one store that is down. */
const MAX_KEYS = 250_000

/** What the fallback decided, on parts with a share of their limits. */
export interface FallbackDecision<P extends Part> {
  readonly verdict: Verdict
  readonly parts: readonly P[]
}

/**
 * Decides in this process's memory while a store is down, by the same policies with a share of their limits.
 * Its states live until they expire, also when the store is back: a store that fails again and again grants
 * no second quota. When the store answers, its own states decide again.
 */
export interface FallbackStore {
  charge<P extends Part>(parts: readonly P[], share: number): FallbackDecision<P>
  refund(refunds: readonly Refund[]): void
  forget(keys: readonly KeyedPolicy[]): void
}

const fallbacks = new WeakMap<Store, FallbackStore>()

/** Returns the fallback of a store. Limiters that share keys in the store share it, too. */
export function fallbackStoreOf(store: Store): FallbackStore {
  const known = fallbacks.get(store) ?? createFallbackStore()
  fallbacks.set(store, known)
  return known
}

function createFallbackStore(): FallbackStore {
  const memory = memoryStore({ maxKeys: MAX_KEYS })
  return {
    charge(wanted, share) {
      const parts = wanted.map((part) => scaledPart(part, share))
      const [verdict] = memory.charge([parts]) as [Verdict]
      return { verdict, parts }
    },
    refund: memory.refund,
    forget: memory.forget,
  }
}

/** A charge that costs more than the share of its limit takes all of the share. */
function scaledPart<P extends Part>(part: P, share: number): P {
  if (share === 1) return part
  const policy = scaledPolicy(part.policy, share)
  return {
    ...part,
    policy,
    cost: part.cost > part.policy.limit ? part.cost : Math.min(part.cost, policy.limit),
  }
}

const scaled = new WeakMap<Policy, Map<number, Policy>>()

function scaledPolicy(policy: Policy, share: number): Policy {
  const byShare = scaled.get(policy) ?? new Map<number, Policy>()
  scaled.set(policy, byShare)
  const known = byShare.get(share) ?? policy.scaled(share)
  byShare.set(share, known)
  return known
}
