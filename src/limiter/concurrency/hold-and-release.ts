import { isIsolate } from '../../platform.js'
import type { ChargeResult, Part, Refund } from '../../stores/operation.js'
import { refundsOf } from '../../stores/shared/refunds.js'
import { inBackground } from '../../util/background-timer.js'
import { groupBy } from '../../util/group-by.js'
import { catchMaybe, type MaybePromise, settleAll } from '../../util/maybe-promise.js'
import type { Apply, Receipt } from '../receipt.js'
import type { CreateHoldings } from './held-by-decision.js'
import { type HeldUnits, isDue, isForgotten, renew, ttlOf } from './renew.js'

const TICK_SHARE = 1 / 16
/** A ttl may be longer than a timer can wait. */
const MAX_TICK_MS = 3_600_000

/**
 * Creates the holdings of a limiter: the units of its concurrency limits that decisions hold. One timer
 * renews them all, and those of one key and slice together. It runs only while there are any. On isolates, a
 * timer belongs to a request, so each decision has its own holdings.
 *
 * A release whose outcome is unknown is not repeated, since it might free the units of another request: what
 * is not released is free after the ttl.
 */
export const createHoldings: CreateHoldings = (...listeners) => {
  const shared = sharedHoldings(...listeners)
  if (!isIsolate()) return shared
  return { ...shared, hold: (receipt) => sharedHoldings(...listeners).hold(receipt) }
}

const sharedHoldings: CreateHoldings = (onRenewalFailed, onReleaseFailed) => {
  const all = new Set<HeldUnits>()
  let timer: NodeJS.Timeout | undefined
  let tickMs = Number.POSITIVE_INFINITY

  function hold(receipt: Receipt): void {
    const { parts, result, apply } = receipt
    if (result === undefined || apply === undefined) return
    const renewedAtMs = performance.now()
    const holdings = heldUnits(parts, result).map(
      (units): HeldUnits => ({
        apply,
        units,
        renewedAtMs,
        renewing: undefined,
        uncertainRenewal: undefined,
        isRenewed: true,
      }),
    )
    if (holdings.length === 0) return
    for (const holding of holdings) add(holding)
    receipt.holding = {
      release: () => settleAll(holdings, release),
      stopRenewals() {
        for (const holding of holdings) holding.isRenewed = false
      },
    }
  }

  function add(holding: HeldUnits): void {
    all.add(holding)
    const wantedMs = Math.min(MAX_TICK_MS, ttlOf(holding) * TICK_SHARE)
    if (wantedMs >= tickMs) return
    clearInterval(timer)
    timer = inBackground(setInterval(renewDue, wantedMs))
    tickMs = wantedMs
  }

  function stop(): void {
    clearInterval(timer)
    tickMs = Number.POSITIVE_INFINITY
  }

  function renewDue(): void {
    const nowMs = performance.now()
    for (const holding of all) if (isForgotten(holding, nowMs)) all.delete(holding)
    if (all.size === 0) {
      stop()
      return
    }
    const due = Array.from(all).filter((holding) => isDue(holding, nowMs))
    for (const inOneStore of groupBy(due, ({ apply }) => apply).values()) {
      const together = groupBy(inOneStore, ({ units }) => `${units.resetAtMs} ${units.key}`)
      for (const holdings of together.values()) renew(holdings, nowMs, onRenewalFailed)
    }
  }

  /** Releases units if they are still held, after a renewal in progress, which changes their slice. */
  function release(holding: HeldUnits): MaybePromise<unknown> {
    if (!all.delete(holding)) return undefined
    const { renewing } = holding
    return renewing === undefined ? refund(holding) : renewing.then(() => refund(holding))
  }

  /** Refunds units: at once if their slice is certain, and otherwise in the background once it is. */
  function refund(holding: HeldUnits): MaybePromise<unknown> {
    const { apply, uncertainRenewal } = holding
    if (uncertainRenewal === undefined) return apply(holding.units)
    uncertainRenewal.then(() => apply(holding.units)).catch(onReleaseFailed)
    return undefined
  }

  function releaseLate(parts: readonly Part[], result: ChargeResult, apply: Apply): void {
    for (const units of heldUnits(parts, result)) catchMaybe<unknown>(() => apply(units), onReleaseFailed)
  }

  return {
    hold,
    renewDue,
    releaseLate,
    async releaseAll(): Promise<void> {
      stop()
      await settleAll([...all], release)
    },
  }
}

/** Returns the units of concurrency limits that an allowed charge took. */
function heldUnits(parts: readonly Part[], result: ChargeResult): readonly Refund[] {
  if (!result.allowed || !parts.some(({ policy }) => policy.holdsUnits)) return []
  return refundsOf(parts, result).filter(({ policy, cost }) => policy.holdsUnits && cost > 0)
}
