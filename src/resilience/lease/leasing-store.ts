import type { Charge, Part, Refund, Store, Verdict } from '../../stores/store.js'
import { thenMaybe } from '../../util/maybe-promise.js'
import { RecentMap } from '../../util/recent-map.js'
import { timeout } from '../../util/timeout.js'
import { Demand } from './demand.js'
import { isHot, KeyLease, type Lessor, largestBlock } from './key-lease.js'

/** How units are leased. */
export interface LeaseSettings {
  /** How long units lie here at the longest. */
  readonly holdMs: number
  /** How many processes share the limits, at most. */
  readonly processes: number
  /** Called when units could not be given back. */
  readonly onNotGivenBack?: (error: unknown) => void
  /** The process's clock, in milliseconds, for simulations and tests. */
  readonly now?: () => number
}

/** A store that hands out what it has leased. */
export interface LeasingStore extends Store {
  /** Answers a charge with what is at hand; nothing where the store has to be asked. */
  handOut(charge: Charge): Verdict | undefined
}

/** How long a store that is being closed is waited for. */
const CLOSING_MS = 1000
/** Keys of which units are leased at once, and at least so many whose demand is remembered. */
const MAX_KEYS = 10_000

/**
 * Stands before a shared store: of a key that is charged often, a block of units is taken from the store in one round trip, and handed out
 * here, without a promise. What others ask of it passes through: charges of several parts, peeks, keys that are charged less than
 * 8 units in `holdMs`, and policies whose units cannot be taken ahead (`consecutive` and `ban`).
 *
 * **Never over the limit.** Units are taken before they are used, and used only while the policy would admit them, had it been charged
 * then (see `Prepaid`), by this process's clock since the block was asked for. All that the policy promises holds for what is admitted
 * by all processes together. Not foreseen are more processes than `processes`; a `refund` to a token bucket of which units are held, after
 * which up to as many more may be admitted; and that others use up what they hold of a key which one process forgets.
 *
 * **Block.** As many units as the key's charges wanted in the last `holdMs`, at most `limit / (16 × processes)`. A limit of less than
 * twice that is not leased. It is asked for in parts, so that one round trip takes as many as there are.
 *
 * **Under-use.** At most `processes × block` units of a key, a sixteenth of its limit, lie unused at a time. None is used later than
 * `holdMs` after it was asked for; those are given back within `holdMs` more, and on `close`. A token bucket's are not, while less than an
 * eighth of it is missing: its refill brings them, and until then up to an eighth of a slow bucket may be gone unused. A denial is repeated
 * here until the store said that units are there, for a twentieth of `holdMs` at least and `holdMs` at most. Units of a block whose answer is
 * lost stay taken.
 *
 * **Figures.** `remaining` is what the store had left when the block was taken, and what is left of the block. A peek does not see what is
 * held.
 *
 * Two of these in one process, on the same keys, are like two processes.
 */
export function leased(store: Store, settings: LeaseSettings): LeasingStore {
  const { holdMs, processes, onNotGivenBack = () => {}, now = () => performance.now() } = settings
  const inTime = timeout(CLOSING_MS)
  const underWay = new Set<Promise<void>>()
  const lessor: Lessor = { store, holdMs, processes, now, giveBack }
  const leases = new Map<string, KeyLease>()
  const demands = new RecentMap<Demand>(MAX_KEYS)
  let isTidying = false
  let isClosed = false

  function charge(charges: readonly Charge[]) {
    const part = onlyPart(charges)
    if (part === undefined || isClosed) return store.charge(charges)
    const lease = leases.get(part.key) ?? leaseOfHot(part)
    return lease?.charge(charges[0] as Charge, part) ?? store.charge(charges)
  }

  function handOut(charge: Charge): Verdict | undefined {
    const part = isClosed ? undefined : onlyPart([charge])
    return part && leases.get(part.key)?.handOut(part)
  }

  function leaseOfHot(part: Part): KeyLease | undefined {
    const { key, policy, cost } = part
    if (policy.prepaid === undefined || largestBlock(policy.limit, processes) < 2) return undefined
    const demand = demands.get(key) ?? new Demand(holdMs)
    if (!isHot(demand.at(now())) || leases.size >= MAX_KEYS) {
      demand.add(cost, now())
      demands.set(key, demand)
      return undefined
    }
    const lease = new KeyLease(lessor, part, policy.prepaid, demand)
    leases.set(key, lease)
    tidyLater()
    return lease
  }

  function tidyLater(): void {
    if (isTidying || leases.size === 0) return
    isTidying = true
    setTimeout(tidy, holdMs).unref()
  }

  function tidy(): void {
    isTidying = false
    const nowMs = now()
    for (const [key, lease] of leases) if (lease.tidy(nowMs)) leases.delete(key)
    tidyLater()
  }

  function giveBack(refunds: readonly Refund[]): void {
    const given = refund(refunds)
      .catch(onNotGivenBack)
      .finally(() => underWay.delete(given))
    underWay.add(given)
  }

  /** Begun at once, so that what is given back is there before what is asked for next. */
  async function refund(refunds: readonly Refund[]): Promise<void> {
    await store.refund(refunds)
  }

  async function close(): Promise<void> {
    isClosed = true
    const held = [...leases.values()]
    leases.clear()
    const givenBack = Promise.all(held.map((lease) => lease.close())).then(() => Promise.all(underWay))
    try {
      await inTime(givenBack)
    } catch (error) {
      onNotGivenBack(error)
    }
    await store.close?.()
  }

  return {
    name: store.name,
    handOut,
    charge,
    refund(refunds) {
      const free = () => {
        for (const { key } of refunds) leases.get(key)?.freed()
      }
      free()
      return thenMaybe(store.refund(refunds), free)
    },
    forget(held) {
      for (const { key } of held) {
        leases.get(key)?.forget()
        leases.delete(key)
        demands.delete(key)
      }
      return store.forget(held)
    },
    ...(store.onLimitsLost && { onLimitsLost: store.onLimitsLost.bind(store) }),
    close,
  }
}

/** The part of a single charge that takes units, if it is the only one. */
function onlyPart(charges: readonly Charge[]): Part | undefined {
  const charge = charges[0]
  if (charges.length !== 1 || charge?.length !== 1) return undefined
  const part = charge[0] as Part
  return part.cost > 0 && part.policy.prepaid !== undefined ? part : undefined
}
