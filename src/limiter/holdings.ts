import { isConcurrency, ttlOf } from '../policies/concurrency.js'
import { CircuitOpenError, type GuardedStore } from '../resilience/guarded-store.js'
import { refundsOf } from '../stores/shared/refunds.js'
import type { Charge, Refund, Verdict } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'
import { groupBy } from '../util/group-by.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { processWide } from '../util/process-wide.js'
import type { UnitChanges } from './ledger.js'

/** Where units are held: the limiter's store, or its local fallback. */
export type Keeper = UnitChanges & Pick<GuardedStore, 'renew'>

/** Units of one limit that a request holds. */
interface Holding {
  readonly keeper: Keeper
  /** By what they are released: their `resetAtMs` changes with each renewal. */
  units: Refund
  /** When they were taken or renewed, by `performance.now()`. */
  renewedAtMs: number
  /** The renewal in progress, if any; never rejects. */
  renewing: Promise<void> | undefined
}

/** Renewals begin at this share of a ttl, and are tried again at each tick, until the ttl is over. */
const RENEWAL_SHARE = 3 / 8
const TICK_SHARE = 1 / 8
/** A ttl may be longer than a timer can wait. */
const MAX_TICK_MS = 3_600_000

/** How to release what a decision holds. A decision may have been made by another copy of this package. */
const releases = processWide('holdings', () => new WeakMap<object, () => MaybePromise<void>>())

/** Returns whether a decision holds units of a concurrency limit, which must be released. */
export function isHolding(decision: object): boolean {
  return releases.has(decision)
}

/** Releases what a decision holds, once. */
export function releaseDecision(decision: object): MaybePromise<void> {
  const release = releases.get(decision)
  releases.delete(decision)
  return release?.()
}

/**
 * Creates the holdings of a limiter: the units of its concurrency limits that decisions hold. One timer
 * renews them all, those of one key and slice together; it runs only while there are any.
 *
 * A release whose outcome is unknown is not repeated, since it might free the units of another request: what
 * is not released is free after the ttl. A renewal that timed out may have been done, and then the next one
 * counts its units once more for a ttl: so that one comes no earlier than after a success.
 */
export function holdingsOf(onRenewalFailed: (error: StoreError) => void) {
  const held = new Set<Holding>()
  let timer: NodeJS.Timeout | undefined
  let tickMs = Number.POSITIVE_INFINITY

  function hold<D extends object>(decision: D, charge: Charge, verdict: Verdict, keeper: Keeper): D {
    if (!verdict.allowed || !charge.some(({ policy }) => isConcurrency(policy))) return decision
    const renewedAtMs = performance.now()
    const holdings = refundsOf(charge, verdict)
      .filter(({ policy, cost }) => isConcurrency(policy) && cost > 0)
      .map((units): Holding => ({ keeper, units, renewedAtMs, renewing: undefined }))
    for (const holding of holdings) add(holding)
    if (holdings.length > 0) releases.set(decision, () => release(holdings))
    return decision
  }

  function add(holding: Holding): void {
    held.add(holding)
    const wantedMs = Math.min(MAX_TICK_MS, ttlOf(holding.units.policy) * TICK_SHARE)
    if (wantedMs >= tickMs) return
    clearInterval(timer)
    timer = setInterval(renewDue, wantedMs)
    timer.unref?.() // on Workers a timer is a number
    tickMs = wantedMs
  }

  function stop(): void {
    clearInterval(timer)
    tickMs = Number.POSITIVE_INFINITY
  }

  function renewDue(): void {
    if (held.size === 0) {
      stop()
      return
    }
    const nowMs = performance.now()
    const due = Array.from(held).filter(({ units, renewedAtMs, renewing }) => {
      return renewing === undefined && nowMs - renewedAtMs >= ttlOf(units.policy) * RENEWAL_SHARE
    })
    for (const ofKeeper of groupBy(due, ({ keeper }) => keeper).values()) {
      const together = groupBy(ofKeeper, ({ units }) => `${units.resetAtMs} ${units.key}`)
      for (const holdings of together.values()) renew(holdings, nowMs)
    }
  }

  /**
   * Renews units of one key and slice. After a failure they stay due: after a time-out, too, though the renewal
   * may have been done and counts twice then. Units that ran out would admit more than the limit.
   */
  function renew(holdings: readonly Holding[], nowMs: number): void {
    const renewing = (async () => {
      const { keeper, units } = holdings[0] as Holding
      const cost = holdings.reduce((sum, holding) => sum + holding.units.cost, 0)
      try {
        const resetAtMs = await keeper.renew({ ...units, cost })
        for (const holding of holdings) {
          holding.units = { ...holding.units, resetAtMs }
          holding.renewedAtMs = nowMs
        }
      } catch (error) {
        if (!(error instanceof CircuitOpenError)) onRenewalFailed(error as StoreError)
      }
      for (const holding of holdings) holding.renewing = undefined
    })()
    for (const holding of holdings) holding.renewing = renewing
  }

  /** Releases units that are still held: once those that are being renewed have their new place. */
  function release(holdings: readonly Holding[]): MaybePromise<void> {
    const own = holdings.filter((holding) => held.delete(holding))
    const refundOwn = () => {
      const [first] = own
      return first?.keeper.refund(own.map(({ units }) => units))
    }
    const renewing = own.map((holding) => holding.renewing).filter((each) => each !== undefined)
    return renewing.length === 0 ? refundOwn() : Promise.all(renewing).then(refundOwn)
  }

  return {
    /** Holds what a decision has taken of concurrency limits. Returns the decision. */
    hold,
    /** Releases everything. Rejects with the first error, after all were tried. */
    async releaseAll(): Promise<void> {
      stop()
      const byKeeper = groupBy(held, ({ keeper }) => keeper)
      const released = Array.from(byKeeper.values(), async (holdings) => release(holdings))
      for (const outcome of await Promise.allSettled(released))
        if (outcome.status === 'rejected') throw outcome.reason
    },
  }
}
