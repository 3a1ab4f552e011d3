import {
  type Charge,
  type ChargeResult,
  type Operation,
  type Outcome,
  type Part,
  type Refund,
  uncountedParts,
} from '../stores/operation.js'
import {
  type OnLate,
  type Pipe,
  request,
  type Settle,
  type SettleAny,
  sendFor,
} from '../stores/shared/pipe.js'
import type { StoreError } from '../stores/store-error.js'
import { catchMaybe, isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { type Cause, causesOf, excuseOf, markOf, untilDecided, withoutMarks } from './undecided-units.js'

/** The result of a charge whose outcome is known only later. */
export interface HeldResult extends ChargeResult {
  /** Ends the time in which the units of an allowed charge are undecided. Further calls do nothing. */
  readonly endUndecided?: () => void
  /** Set on a denial that only undecided units caused. */
  readonly isUndecided?: true
}

/**
 * Creates a pipe for requests whose outcome is known only after their response, as with `count`. Each charge
 * also marks its units as undecided, under a key beside that of each limit. Marks are part of the same
 * charge, so every denial shows how many of the units in use are undecided, whichever process holds them.
 *
 * If only undecided units cause a denial, its retry time is short, and no ban counts it. So the first charge
 * uses bans that do not count denials. If a ban has to count the denial, a second charge uses one that does.
 *
 * `endUndecided` removes marks. Otherwise they expire after some seconds, or sooner if the window of the
 * limit is shorter, so a slow request does not excuse denials for long. Once units of known outcome use half
 * of a limit, the number of excused denials is bounded. A client that waits for each retry time stays within
 * it.
 */
export function holdUndecided<P extends Pipe>(pipe: P): P {
  function send(operation: Operation, settle: SettleAny, onLate?: OnLate): Outcome | undefined {
    const takes = operation.type === 'charge' && operation.parts.some(({ cost }) => cost > 0)
    return takes ? sendMarked(operation, settle, onLate) : pipe.send(operation, settle, onLate)
  }

  function sendMarked(charge: Charge, settle: SettleAny, onLate?: OnLate): Outcome | undefined {
    const { parts } = charge
    const marks = parts.map(markOf)

    /** Returns the outcome for the caller; `undefined` if it comes later. */
    function decide(outcome: ChargeResult | StoreError): Outcome | undefined {
      if (outcome instanceof Error) return outcome
      const decided = outcome.allowed ? allow(outcome) : deny(outcome)
      if (!isPromise(decided)) return decided
      decided.then(settle)
      return undefined
    }

    function allow(result: ChargeResult): HeldResult {
      let isMarked = true
      const endUndecided = () => {
        if (isMarked) endMarks(marks, result)
        isMarked = false
      }
      return { ...withoutMarks(parts, result), endUndecided }
    }

    /** Returns a denial once every ban that has to count it has done so. */
    function deny(result: ChargeResult): MaybePromise<HeldResult> {
      const causes = causesOf(parts, result)
      const denial = denialOf(withoutMarks(parts, result), causes)
      return catchMaybe(
        () => thenMaybe(countedParts(charge, result, causes), (counted) => countDenial(counted, denial)),
        () => denial, // it was decided, though a ban may not have counted it
      )
    }

    function countDenial(counted: readonly Part[] | undefined, denial: HeldResult): MaybePromise<HeldResult> {
      if (counted === undefined) return denial
      return thenMaybe(request<Charge>(pipe, { type: 'charge', parts: [...counted, ...marks] }), (result) => {
        if (result.allowed) return allow(result)
        const causes = causesOf(parts, result).map((cause, i) =>
          counted[i] === parts[i] && cause !== undefined ? 'decided' : cause,
        )
        return denialOf(withoutMarks(parts, result), causes)
      })
    }

    const first: Charge = { type: 'charge', parts: [...uncountedParts(parts), ...marks] }
    const settleFirst: Settle<Charge> = (later) => {
      const decided = decide(later)
      if (decided !== undefined) settle(decided)
    }
    const settleLate: OnLate<Charge> = (late) =>
      onLate?.(late instanceof Error ? late : withoutMarks(parts, late), charge)
    const outcome = pipe.send(first, settleFirst, settleLate)
    return outcome && decide(outcome)
  }

  /**
   * Returns the parts of a denied charge with the bans that count the denial; `undefined` if none does. A
   * ban counts denials by units of known outcome, and disputed denials without an excuse.
   */
  function countedParts(
    { parts }: Charge,
    result: ChargeResult,
    causes: readonly (Cause | undefined)[],
  ): MaybePromise<readonly Part[] | undefined> {
    const disputed = parts.filter(({ policy }, i) => policy.uncounted && causes[i] === 'disputed')
    return thenMaybe(areExcused(disputed), (excused) => {
      const uncounted = uncountedParts(parts)
      const counted = parts.map((part, i) => {
        const isDecided = causes[i] === 'decided' || (causes[i] === 'disputed' && !excused)
        const counts = part.policy.uncounted && isDecided && (!result.parts[i]?.isBanned || restarts(part))
        return counts ? part : (uncounted[i] ?? part)
      })
      return counted.some((part, i) => part !== uncounted[i]) ? counted : undefined
    })
  }

  function areExcused(disputed: readonly Part[]): MaybePromise<boolean> {
    if (disputed.length === 0) return true
    const charge: Charge = { type: 'charge', parts: disputed.map(excuseOf) }
    return thenMaybe(request(pipe, charge), ({ allowed }) => allowed)
  }

  /** Refunds marks. If that fails, they expire. */
  function endMarks(marks: readonly Part[], { atMs, parts }: ChargeResult): void {
    const results = parts.slice(-marks.length)
    for (const [i, mark] of marks.entries()) {
      if (mark.cost === 0) continue
      const takenAtMs = results[i]?.atMs ?? atMs
      pipe.send<Refund>({ type: 'refund', ...mark, takenAtMs }, () => {})
    }
  }

  return { ...pipe, send: sendFor(send) }
}

/** Returns whether an attempt during a ban of this limit restarts the ban. */
function restarts({ policy: { spec } }: Part): boolean {
  return spec.kind === 'ban' && spec.onAttempt === 'restart'
}

/** Returns a denial. Limits that only undecided units exceed get a short retry time. */
function denialOf(result: ChargeResult, causes: readonly (Cause | undefined)[]): HeldResult {
  const isExcused = (cause: Cause | undefined) => cause === 'undecided' || cause === 'disputed'
  if (!causes.some(isExcused)) return result
  const parts = result.parts.map((figures, i) => (isExcused(causes[i]) ? untilDecided(figures) : figures))
  const isUndecided = !causes.includes('decided')
  return { ...result, parts, isTentative: true, ...(isUndecided && { isUndecided }) }
}
