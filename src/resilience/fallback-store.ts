import type { Policy } from '../policies/policy.js'
import { memoryStore, monotonicNow } from '../stores/memory/memory-store.js'
import type { Charge, KeyedPolicy, Part, Refund, Store, Verdict } from '../stores/store.js'
import { StoreError } from '../stores/store-error.js'
import { timeout } from '../util/timeout.js'
import { Debts } from './debts.js'
import { validateVerdict } from './validate-verdict.js'

/** Clients that a process remembers while the store is away. */
const MAX_KEYS = 250_000
/** Debts that are charged to the store at once. */
const MAX_AT_ONCE = 256
/** How long a charge of debts keeps others waiting. */
const PATIENCE_MS = 5000
/** How long a store that could not be charged with debts is left alone. */
const PAUSE_MS = 1000

/** What the stand-in decided, on parts with a share of their limits. */
export interface Advance<P extends Part> {
  readonly verdict: Verdict
  readonly parts: readonly P[]
}

/** Decides in this process's memory for a store that is away, and charges that with what was let through when it is back. */
export interface FallbackStore {
  /** Whether the store is owed anything. */
  readonly isOwing: boolean
  charge<P extends Part>(parts: readonly P[], share: number): Advance<P>
  /** Gives back what it took itself. */
  refund(refunds: readonly Refund[]): void
  /** Notes what was let through. Gives what takes that back; less where there is no room for all. */
  owe(charge: Charge, atMs: number): readonly Refund[]
  /** The store is not owed these any more. */
  forgive(owed: readonly Refund[]): void
  forget(held: readonly KeyedPolicy[]): void
  /** Charges the store with what it is owed. Never rejects: what it cannot be charged with now stays owed, and `onFailure` is told why. */
  settle(onFailure: (error: StoreError) => void): Promise<void>
}

const known = new WeakMap<Store, FallbackStore>()

/** The stand-in for a store: limiters that share keys in the store share it, too. */
export function fallbackStoreOf(store: Store): FallbackStore {
  const made = known.get(store) ?? makeStandIn(store)
  known.set(store, made)
  return made
}

function makeStandIn(store: Store): FallbackStore {
  const memory = memoryStore({ maxKeys: MAX_KEYS })
  const debts = new Debts(MAX_KEYS)
  const patiently = timeout(PATIENCE_MS)
  let settling: Promise<void> | undefined
  let restsUntilMs = 0

  async function settleAll(onFailure: (error: StoreError) => void): Promise<void> {
    while (debts.size > 0) {
      const parts = debts.takeOut(MAX_AT_ONCE, monotonicNow())
      const failures = (await Promise.all(parts.map(settleOne))).filter((failure) => failure !== undefined)
      if (failures[0] === undefined && parts.length > 0) continue
      restsUntilMs = performance.now() + PAUSE_MS
      if (failures[0] !== undefined) onFailure(failures[0])
      return
    }
  }

  /** Gives why a debt could not be charged. One whose charge does not end stays out until it does. */
  async function settleOne(part: Part): Promise<StoreError | undefined> {
    const paying = pay(part).then(
      () => debts.done(part),
      (cause) => {
        debts.putBack(part, monotonicNow())
        throw cause
      },
    )
    try {
      await patiently(paying)
      return undefined
    } catch (cause) {
      return new StoreError(store.name, 'it could not be charged with what was let through for it', { cause })
    }
  }

  /** Charges a debt; where the store can be overdrawn by less, with as much as it can. */
  async function pay(part: Part): Promise<void> {
    const remaining = await remainingWhereDenied(part)
    if (remaining > 0) await remainingWhereDenied({ ...part, cost: Math.min(part.cost, remaining) })
  }

  async function remainingWhereDenied(part: Part): Promise<number> {
    const { allowed, parts } = validateVerdict(store, [part], await store.charge([[part]]))
    return allowed ? 0 : (parts[0]?.remaining ?? 0)
  }

  return {
    get isOwing() {
      return debts.size > 0
    },
    charge(wanted, share) {
      const parts = wanted.map((part) => scaledPart(part, share))
      const [verdict] = memory.charge([parts]) as [Verdict]
      return { verdict, parts }
    },
    refund: memory.refund,
    owe(charge, atMs) {
      const nowMs = monotonicNow()
      return charge.flatMap((part) => (part.cost === 0 ? [] : (debts.add(part, atMs, nowMs) ?? [])))
    },
    forgive(owed) {
      const nowMs = monotonicNow()
      for (const each of owed) debts.forgive(each, nowMs)
    },
    forget(held) {
      memory.forget(held)
      for (const each of held) debts.forget(each)
    },
    settle(onFailure) {
      if (settling === undefined && performance.now() < restsUntilMs) return Promise.resolve()
      settling ??= settleAll(onFailure).finally(() => {
        settling = undefined
      })
      return settling
    },
  }
}

/** A request that costs more than the share of its limit takes all of that. */
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
  const made = byShare.get(share) ?? policy.scaled(share)
  byShare.set(share, made)
  return made
}
