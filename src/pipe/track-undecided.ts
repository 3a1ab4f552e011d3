import type { Cause } from '../policies/judge-denials.js'
import {
  type Charge,
  type ChargeResult,
  type Forget,
  type Operation,
  type Outcome,
  type Part,
  type Refund,
  uncountedParts,
} from '../stores/operation.js'
import { localStatesOf } from '../stores/shared/local-states.js'
import { refundsOf } from '../stores/shared/refunds.js'
import type { Store } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'
import { catchMaybe, isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import type { UndecidedSource } from './decided-units.js'
import { type OnLate, type Pipe, request, type SettleAny, sendFor } from './pipe.js'
import { remoteSupportOf } from './remote-support.js'
import {
  causesOf,
  endUndecidedParts,
  recordTaken,
  type UndecidedCharge,
  undecidedCharge,
  withoutMarks,
} from './undecided-charge.js'
import { undecidedLedgerOf } from './undecided-ledger.js'
import { untilDecided } from './undecided-units.js'

/** The result of a charge whose outcome is known only later. */
export interface TrackedResult extends ChargeResult {
  /**
   * Ends the time during which the units of an allowed charge are undecided. Further calls do nothing. If
   * the charge has marks, the promise resolves once they are refunded.
   */
  readonly endUndecided?: () => Promise<unknown> | undefined
  /** Set on a denial that only undecided units caused. */
  readonly isUndecided?: true
  /** Where the undecided units are known. */
  readonly undecided?: UndecidedSource
}

/**
 * Creates a pipe for requests whose outcome is known only after their response, as with `count`. It knows
 * how many of the units in use are undecided, whichever process took them. If only they cause a denial, its
 * retry time is short, and no ban counts it. So the first charge uses bans that do not count denials. If a
 * ban has to count the denial, another charge uses one that does.
 *
 * **Marks.** A mark in the store, under a key beside that of the limit, shows the other processes that units
 * are undecided. It is part of the charge. Most charges need none: a process remembers its own units, and
 * leaves up to an eighth of a large limit unmarked. If a charge finds that more than an eighth is in use,
 * its mark follows. So other processes miss only few units. Unless a denied charge is known to be excused,
 * it is sent again with all its marks.
 *
 * **The end.** `endUndecided` removes the marks of a request. If its process crashes, they expire within a
 * minute, or sooner if the window of the limit is shorter. A process remembers its own undecided units until
 * their outcome is known, or until they are no longer in use. Once units of known outcome use half of a
 * limit, the number of excused denials is bounded, so a slow request excuses few. A client that waits for
 * each retry time stays within it.
 */
export function trackUndecided(pipe: Pipe, store: Store): Pipe {
  const ledger = undecidedLedgerOf(store)
  const marks = localStatesOf(store) === undefined ? remoteSupportOf(store)?.marks : undefined
  const undecided: UndecidedSource = { pipe, ledger, marks }

  function send(operation: Operation, settle: SettleAny, onLate?: OnLate): Outcome | undefined {
    if (operation.type === 'forget') forgetUndecided(operation)
    const takes = operation.type === 'charge' && operation.parts.some(({ cost }) => cost > 0)
    return takes ? sendTracked(operation, settle, onLate) : pipe.send(operation, settle, onLate)
  }

  /** Forgets which units of a key are undecided, before the units are forgotten. */
  function forgetUndecided({ key, policy }: Forget): void {
    ledger.forget(key)
    if (marks === undefined || policy.holdsUnits) return
    pipe.send<Forget>({ type: 'forget', ...marks.markOf({ key, policy, cost: 0 }) }, () => {})
  }

  function sendTracked({ parts }: Charge, settle: SettleAny, onLate?: OnLate): Outcome | undefined {
    const first = undecidedCharge(parts, ledger, marks)

    function decide(outcome: ChargeResult | StoreError): MaybePromise<Outcome> {
      if (!(outcome instanceof Error)) return outcome.allowed ? allow(first, outcome) : deny(first, outcome)
      endUndecidedParts(first, ledger)
      return outcome
    }

    /** Returns the outcome for the caller; `undefined` if it comes later. */
    function settleUnlessKnown(decided: MaybePromise<Outcome>): Outcome | undefined {
      if (!isPromise(decided)) return decided
      decided.then(settle)
      return undefined
    }

    const outcome = pipe.send<Charge>(
      first.sent,
      (later) => {
        const decided = settleUnlessKnown(decide(later))
        if (decided !== undefined) settle(decided)
      },
      (late) => onLate?.(late instanceof Error ? late : withoutMarks(first, late), { type: 'charge', parts }),
    )
    return outcome && settleUnlessKnown(decide(outcome))
  }

  function allow(charge: UndecidedCharge, result: ChargeResult): TrackedResult {
    recordTaken(charge, result, ledger)
    const newMarks = marks?.markUsedLimits(charge, result, ledger) ?? []
    if (newMarks.length > 0) pipe.send<Charge>({ type: 'charge', parts: newMarks }, () => {})
    let hasEnded = false
    const endUndecided = () => {
      if (hasEnded) return undefined
      hasEnded = true
      const refunds = endUndecidedParts(charge, ledger, result)
      // If a mark is not refunded, it expires.
      const send = (refund: Refund) =>
        catchMaybe<unknown>(
          () => request(pipe, refund),
          () => undefined,
        )
      return refunds.length === 0 ? undefined : Promise.all(refunds.map(send))
    }
    return { ...withoutMarks(charge, result), endUndecided, undecided }
  }

  /** Returns a denial once its cause is known, and every ban that has to count it has done so. */
  function deny(charge: UndecidedCharge, result: ChargeResult): MaybePromise<TrackedResult> {
    endUndecidedParts(charge, ledger)
    if (!marks?.mayExcuse(charge, result, causesOf(charge, result, ledger)))
      return countDenial(charge, result)
    return catchMaybe(
      () => recharge(charge.parts, uncountedParts(charge.parts), countDenial),
      () => ({ ...withoutMarks(charge, result), isTentative: true }), // denied, for an unknown cause
    )
  }

  /** Sends parts again with all their marks. `explain` returns the denial. */
  function recharge(
    parts: readonly Part[],
    charged: readonly Part[],
    explain: (charge: UndecidedCharge, result: ChargeResult) => MaybePromise<TrackedResult>,
  ): MaybePromise<TrackedResult> {
    const charge = undecidedCharge(parts, ledger, marks, { charged, isMarked: true })
    const sent = request(pipe, charge.sent, (late) => giveBack(charge, late))
    return thenMaybe(sent, (result) => {
      if (result.allowed) return allow(charge, result)
      endUndecidedParts(charge, ledger)
      return explain(charge, result)
    })
  }

  /** Refunds what a late charge took, because its request has been denied in the meantime. */
  function giveBack({ sent }: UndecidedCharge, late: ChargeResult | StoreError): void {
    if (late instanceof Error || !late.allowed) return
    for (const refund of refundsOf(sent.parts, late)) if (refund.cost > 0) pipe.send<Refund>(refund, () => {})
  }

  function countDenial(charge: UndecidedCharge, result: ChargeResult): MaybePromise<TrackedResult> {
    const { parts } = charge
    const causes = causesOf(charge, result, ledger)
    const denial = denialOf(withoutMarks(charge, result), causes)
    return catchMaybe(
      () =>
        thenMaybe(judge(parts, result, causes), (counts) => {
          if (!counts.includes(true)) return denial
          const counted = uncountedParts(parts).map((part, i) => (counts[i] && parts[i]) || part)
          return recharge(parts, counted, (again, latest) => {
            const latestCauses = causesOf(again, latest, ledger).map((cause, i) =>
              counts[i] && cause !== undefined ? 'decided' : cause,
            )
            return denialOf(withoutMarks(again, latest), latestCauses)
          })
        }),
      () => denial, // the denial holds, though a ban may not have counted it
    )
  }

  /** Returns for each part of a denied charge whether its ban has to count the denial. */
  function judge(
    parts: readonly Part[],
    result: ChargeResult,
    causes: readonly (Cause | undefined)[],
  ): MaybePromise<readonly boolean[]> {
    const judgeDenials = parts.find(({ policy }) => policy.judgeDenials)?.policy.judgeDenials
    if (judgeDenials === undefined) return []
    const denied = parts.map(({ key, policy }, i) => {
      const isBanned = result.parts[i]?.isBanned === true
      return { key, policy, cause: causes[i], isBanned }
    })
    return judgeDenials(denied, (excuses) =>
      thenMaybe(request<Charge>(pipe, { type: 'charge', parts: excuses }), ({ allowed }) => allowed),
    )
  }

  return { send: sendFor(send) }
}

/** Returns a denial. Limits that only undecided units exceed get a short retry time. */
function denialOf(result: ChargeResult, causes: readonly (Cause | undefined)[]): TrackedResult {
  const isExcused = (cause: Cause | undefined) => cause === 'undecided' || cause === 'disputed'
  if (!causes.some(isExcused)) return result
  const parts = result.parts.map((figures, i) => (isExcused(causes[i]) ? untilDecided(figures) : figures))
  const isUndecided = !causes.includes('decided')
  return { ...result, parts, isTentative: true, ...(isUndecided && { isUndecided }) }
}
