import { type Decision, receiptOf } from '../limiter/decision.js'
import type { Apply, Receipt } from '../limiter/receipt.js'
import { CircuitOpenError, isTimeout } from '../pipe/guarded-store.js'
import type { ChargeResult, Part, Refund, RenewResult } from '../stores/operation.js'
import { refundsOf } from '../stores/shared/refunds.js'
import type { StoreError } from '../stores/store-error.js'
import { inBackground } from '../util/background-timer.js'
import { groupBy } from '../util/group-by.js'
import { catchMaybe, type MaybePromise, settleAll } from '../util/maybe-promise.js'

/** Units of one limit that a request holds. */
interface Holding {
  /** Applies operations where they are held: in the limiter's store, or in its local fallback. */
  readonly apply: Apply
  /** By what they are released: their `resetAtMs` changes with each renewal. */
  units: Refund
  /** When they were taken or renewed, by `performance.now()`. */
  renewedAtMs: number
  /** The renewal in progress, if any; never rejects. */
  renewing: Promise<void> | undefined
  /** Resolves when the outcome of a renewal that timed out is known; `undefined` if there is none. */
  doubt: Promise<void> | undefined
  /** Whether they are renewed: not once the client of their request has left. */
  isRenewed: boolean
}

/** Renewals begin at this share of a ttl, and are tried again at each tick, until the ttl is over. */
const RENEWAL_SHARE = 1 / 8
/** Those in doubt come later: done twice, a renewal counts its units once more for a ttl. */
const DOUBTFUL_SHARE = 1 / 2
const TICK_SHARE = 1 / 16
/** The store has freed units that are older. */
const LONGEST_SHARE = 9 / 8
/** A ttl may be longer than a timer can wait. */
const MAX_TICK_MS = 3_600_000

/** Returns whether a decision holds units of a concurrency limit, which must be released. */
export function isHolding(decision: Decision): boolean {
  return receiptOf(decision)?.holding !== undefined
}

/** Releases what a decision holds, once. */
export function releaseDecision(decision: Decision): MaybePromise<void> {
  const receipt = receiptOf(decision)
  const holding = receipt?.holding
  if (receipt === undefined || holding === undefined) return undefined
  receipt.holding = undefined
  return holding.release()
}

/** Lets what a decision holds be free after its ttl, unless it is released before. */
export function stopRenewals(decision: Decision): void {
  receiptOf(decision)?.holding?.stopRenewals()
}

/**
 * Creates the holdings of a limiter: the units of its concurrency limits that decisions hold. One timer
 * renews them all, those of one key and slice together; it runs only while there are any.
 *
 * A release whose outcome is unknown is not repeated, since it might free the units of another request: what
 * is not released is free after the ttl. `onReleaseFailed` gets the failures that no caller sees.
 */
export function holdingsOf(
  onRenewalFailed: (error: StoreError) => void,
  onReleaseFailed: (error: unknown) => void,
) {
  const all = new Set<Holding>()
  let timer: NodeJS.Timeout | undefined
  let tickMs = Number.POSITIVE_INFINITY

  function hold(receipt: Receipt): void {
    const { parts, result, apply } = receipt
    const renewedAtMs = performance.now()
    const holdings = heldUnits(parts, result as ChargeResult).map(
      (units): Holding => ({
        apply: apply as Apply,
        units,
        renewedAtMs,
        renewing: undefined,
        doubt: undefined,
        isRenewed: true,
      }),
    )
    if (holdings.length === 0) return
    for (const holding of holdings) add(holding)
    receipt.holding = {
      release: () => release(holdings),
      stopRenewals() {
        for (const holding of holdings) holding.isRenewed = false
      },
    }
  }

  function add(holding: Holding): void {
    all.add(holding)
    const wantedMs = Math.min(MAX_TICK_MS, (holding.units.policy.ttlMs as number) * TICK_SHARE)
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
    const shareOf = ({ units, renewedAtMs }: Holding) =>
      (nowMs - renewedAtMs) / (units.policy.ttlMs as number)
    for (const holding of all) if (!holding.isRenewed && shareOf(holding) > LONGEST_SHARE) all.delete(holding)
    if (all.size === 0) {
      stop()
      return
    }
    const due = Array.from(all).filter((holding) => {
      const { isRenewed, renewing, doubt } = holding
      const dueShare = doubt === undefined ? RENEWAL_SHARE : DOUBTFUL_SHARE
      return isRenewed && renewing === undefined && shareOf(holding) >= dueShare
    })
    for (const inOnePlace of groupBy(due, ({ apply }) => apply).values()) {
      const together = groupBy(inOnePlace, ({ units }) => `${units.resetAtMs} ${units.key}`)
      for (const holdings of together.values()) renew(holdings, nowMs)
    }
  }

  /** Renews units of one key and slice. After a failure they stay due. */
  function renew(holdings: readonly Holding[], nowMs: number): void {
    const renewing = sendRenewal(holdings, nowMs).then(() => {
      for (const holding of holdings) holding.renewing = undefined
    })
    for (const holding of holdings) holding.renewing = renewing
  }

  async function sendRenewal(holdings: readonly Holding[], nowMs: number): Promise<void> {
    const { apply, units } = holdings[0] as Holding
    const cost = holdings.reduce((sum, holding) => sum + holding.units.cost, 0)
    let endDoubt: () => void = () => {}
    const doubt = new Promise<void>((resolve) => {
      endDoubt = resolve
    })
    const doubtIs = (next: Holding['doubt']) => {
      for (const holding of holdings) holding.doubt = next
    }
    try {
      const renewal = { ...units, type: 'renew', cost } as const
      const renewed = await apply(renewal, (outcome) => {
        if (!(outcome instanceof Error)) moveTo(outcome, holdings, nowMs)
        doubtIs(undefined)
        endDoubt()
      })
      moveTo(renewed, holdings, nowMs)
      doubtIs(undefined)
    } catch (error) {
      if (isTimeout(error)) doubtIs(doubt)
      if (!(error instanceof CircuitOpenError)) onRenewalFailed(error as StoreError)
    }
  }

  /** Releases units that are still held: once those that are being renewed have their new place. */
  function release(holdings: readonly Holding[]): MaybePromise<void> {
    const held = holdings.filter((holding) => all.delete(holding))
    const renewing = held.map((holding) => holding.renewing).filter((each) => each !== undefined)
    return renewing.length === 0 ? refundSettled(held) : Promise.all(renewing).then(() => refundSettled(held))
  }

  /** Refunds units whose place is known now, and the others, for which nobody waits, once theirs is. */
  function refundSettled(holdings: readonly Holding[]): MaybePromise<void> {
    const settled: Holding[] = []
    for (const holding of holdings) {
      if (holding.doubt === undefined) settled.push(holding)
      else holding.doubt.then(() => refundAll([holding])).catch(onReleaseFailed)
    }
    return refundAll(settled)
  }

  /** Releases what a charge took whose verdict came too late: no decision holds it. */
  function releaseLate(parts: readonly Part[], result: ChargeResult, apply: Apply): void {
    for (const units of heldUnits(parts, result)) catchMaybe<unknown>(() => apply(units), onReleaseFailed)
  }

  return {
    /** Holds what a charge has taken of concurrency limits. */
    hold,
    /** Renews what is due, as at each tick. */
    renewDue,
    releaseLate,
    /** Releases everything. Rejects with the first error, after all were tried. */
    async releaseAll(): Promise<void> {
      stop()
      const byPlace = groupBy(all, ({ apply }) => apply)
      const released = Array.from(byPlace.values(), async (holdings) => release(holdings))
      for (const outcome of await Promise.allSettled(released))
        if (outcome.status === 'rejected') throw outcome.reason
    },
  }
}

/** Returns what an allowed charge took of concurrency limits. */
function heldUnits(parts: readonly Part[], result: ChargeResult): readonly Refund[] {
  if (!result.allowed || !parts.some(({ policy }) => policy.holdsUnits)) return []
  return refundsOf(parts, result).filter(({ policy, cost }) => policy.holdsUnits && cost > 0)
}

/** Records where a renewal has put units, unless a later one has moved them on. */
function moveTo({ resetAtMs }: RenewResult, holdings: readonly Holding[], renewedAtMs: number): void {
  for (const holding of holdings) {
    if (holding.renewedAtMs >= renewedAtMs) continue
    holding.units = { ...holding.units, resetAtMs }
    holding.renewedAtMs = renewedAtMs
  }
}

function refundAll(holdings: readonly Holding[]): MaybePromise<void> {
  return settleAll(holdings, ({ apply, units }) => apply(units))
}
