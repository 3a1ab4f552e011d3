import type { Policy } from '../policies/policy.js'
import { deadline } from './deadline.js'
import { Debts } from './debts.js'
import { memoryStore, monotonicNow } from './memory-store.js'
import type { Held, Part, Refund, Store, Verdict } from './store.js'

/** Clients that a process remembers while the store is away. */
const MAX_KEYS = 250_000
/** Debts that are charged to the store at once. */
const MAX_AT_ONCE = 256
/** How long an answer to that is waited for. */
const PATIENCE_MS = 5000
/** How long a store that could not be charged with debts is left alone. */
const PAUSE_MS = 1000

/** What the stand-in let through: its verdict, on parts of its own, and what the store is owed for it. */
export interface Advance<P extends Part> {
  readonly verdict: Verdict
  /** The parts with a share of their limits. */
  readonly parts: readonly P[]
  readonly owed: readonly Refund[]
  /** Whether there was no room to note all of that, so that the store will not be charged with it. */
  readonly isUnnoted: boolean
}

/** Decides in this process's memory for a store that is away, and charges that with what was let through when it is back. */
export interface StandIn {
  /** Whether the store is owed anything. */
  readonly isOwing: boolean
  charge<P extends Part>(parts: readonly P[]): Advance<P>
  /** Gives back what it took itself. */
  refund(refunds: readonly Refund[]): void
  /** The store is not owed these any more. */
  forgive(owed: readonly Refund[]): void
  forget(held: readonly Held[]): void
  /** Charges the store with what it is owed. Never rejects. */
  settle(): Promise<void>
}

const known = new WeakMap<Store, Map<number, StandIn>>()

/** The stand-in for a store: limiters that share keys in the store share it, too. */
export function standInFor(store: Store, share: number): StandIn {
  const byShare = known.get(store) ?? new Map<number, StandIn>()
  known.set(store, byShare)
  const made = byShare.get(share) ?? makeStandIn(store, share)
  byShare.set(share, made)
  return made
}

/** Has a `share` of each limit, since other processes stand in as well. */
function makeStandIn(store: Store, share: number): StandIn {
  const memory = memoryStore({ maxKeys: MAX_KEYS })
  const debts = new Debts(MAX_KEYS)
  const scaled = new WeakMap<Policy, Policy>()
  const patiently = deadline(PATIENCE_MS)
  let settling: Promise<void> | undefined
  let restsUntilMs = 0

  function shareOf(policy: Policy): Policy {
    const known = scaled.get(policy) ?? policy.scaled(share)
    scaled.set(policy, known)
    return known
  }

  /** A request that costs more than the share of its limit takes all of that. */
  function scaledPart<P extends Part>(part: P): P {
    const policy = shareOf(part.policy)
    return {
      ...part,
      policy,
      cost: part.cost > part.policy.limit ? part.cost : Math.min(part.cost, policy.limit),
    }
  }

  function charge<P extends Part>(wanted: readonly P[]): Advance<P> {
    const parts = wanted.map(scaledPart)
    const [verdict] = memory.charge([parts]) as [Verdict]
    if (!verdict.allowed) return { verdict, parts, owed: [], isUnnoted: false }
    const taken = wanted.filter(({ cost }) => cost > 0)
    const owed = taken.flatMap((part) => debts.add(part, verdict.atMs) ?? [])
    return { verdict, parts, owed, isUnnoted: owed.length < taken.length }
  }

  async function settleAll(): Promise<void> {
    while (debts.size > 0) {
      const parts = debts.takeOut(MAX_AT_ONCE, monotonicNow())
      const paid = await Promise.all(parts.map((part) => patiently(pay(part)).then(yes, no))) // told by charges that fail as well
      const unpaid = parts.filter((_, i) => !paid[i])
      for (const part of unpaid) debts.add(part, monotonicNow())
      if (unpaid.length > 0) {
        restsUntilMs = performance.now() + PAUSE_MS
        return
      }
    }
  }

  /** Charges a debt; where the store can be overdrawn by less, with as much as it can. */
  async function pay(part: Part): Promise<void> {
    const remaining = await remainingWhereDenied(part)
    if (remaining > 0) await remainingWhereDenied({ ...part, cost: Math.min(part.cost, remaining) })
  }

  async function remainingWhereDenied(part: Part): Promise<number> {
    const [verdict] = await store.charge([[part]])
    return verdict?.allowed ? 0 : (verdict?.parts[0]?.remaining ?? 0)
  }

  return {
    get isOwing() {
      return debts.size > 0
    },
    charge,
    refund: memory.refund,
    forgive(owed) {
      const nowMs = monotonicNow()
      for (const each of owed) debts.forgive(each, nowMs)
    },
    forget(held) {
      memory.forget(held)
      for (const each of held) debts.forget(each)
    },
    settle() {
      if (settling === undefined && performance.now() < restsUntilMs) return Promise.resolve()
      settling ??= settleAll().finally(() => {
        settling = undefined
      })
      return settling
    },
  }
}

const yes = () => true
const no = () => false
