import { chargeLimits } from '../../limiter/charge-limits.js'
import { isHolding } from '../../limiter/concurrency/held-by-decision.js'
import { asDecided, chargedParts, type Decision, denyUndelayable } from '../../limiter/decision.js'
import { isIsolate } from '../../platform.js'
import { callAt } from '../../util/call-at.js'
import { catchMaybe, type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'
import { SharedPlaces } from '../../util/places.js'
import { denyRequest, type Respond } from '../deny-request.js'
import {
  type chargeRequest,
  endUnlessPassed,
  noOutcome,
  pass,
  passWithoutOutcome,
  type RequestSteps,
  respond,
  setHeaders,
} from '../request-steps.js'
import type { ResponseWriter } from '../response-writer.js'

/** The most requests of a limiter that are delayed at a time. A client gets no more places than are left. */
const MAX_DELAYED = 1000

/** Returns the whole delay in milliseconds. */
export type DelayBy = (used: number, req: unknown) => MaybePromise<number>

/** The options of a delay, read and checked. Delays are in milliseconds. */
interface DelayRule {
  readonly after: number
  readonly by: number | DelayBy
  readonly max: number
}

/**
 * Creates the charge of a limiter whose requests are delayed. A request does not pass if its client hangs up
 * meanwhile, or if there is no place for it among the delayed ones. Each request has one decision, even if an
 * option function throws. It is reported only once the delay is known, because a request that cannot be
 * delayed is denied.
 */
export function delayedCharge(rule: DelayRule): typeof chargeRequest {
  /** Absent on isolates, where a request whose client leaves would keep its place. */
  const shared = isIsolate() ? undefined : new SharedPlaces(MAX_DELAYED)

  function delayRequest<Req extends object, Res>(
    steps: RequestSteps<Req, Res>,
    req: Req,
    res: Res,
    onDenied: Respond | undefined,
    decision: Decision,
  ): MaybePromise<boolean> {
    const { report } = steps.stepped
    const delayMs = catchMaybe(
      () => delayOf(rule, decision, req),
      (error) => {
        report(decision, req)
        throw error
      },
    )
    return thenMaybe(delayMs, (forMs) => {
      const isConnected = forMs === 0 || pause(steps.writer, res, decision, forMs, shared)
      if (isConnected === undefined) return denyUndelayed(steps, req, res, onDenied, decision, forMs)
      report(decision, req)
      return thenMaybe(isConnected, (isStillConnected) => isStillConnected && pass(steps, req, res, decision))
    })
  }

  return function chargeAndDelay(steps, req, res, onDenied) {
    const { stepped, modeSwitch } = steps
    return thenMaybe(chargeLimits(stepped, req, undefined, asDecided), (decision) => {
      // A policy function may return concurrency, which never delays: a waiting request would hold its units.
      if (!decision.allowed || isHolding(decision) || modeSwitch.mode === 'report')
        return respond(steps, req, res, onDenied, stepped.report(decision, req))
      setHeaders(steps, req, res, decision)
      const error = noOutcome(steps, res, decision)
      if (error !== undefined) return passWithoutOutcome(steps, decision, error)
      return endUnlessPassed(decision, () => delayRequest(steps, req, res, onDenied, decision))
    })
  }
}

function delayOf({ after, by, max }: DelayRule, decision: Decision, req: unknown): MaybePromise<number> {
  const atMost = (delayMs: number) => Math.min(Math.max(delayMs, 0), max)
  const used = decision.parts.length === 0 ? 0 : decision.limit - decision.remaining
  if (used <= after) return 0
  return typeof by === 'number' ? atMost((used - after) * by) : thenMaybe(by(used, req), atMost)
}

/**
 * Resolves with true after a time, or with false as soon as the client hangs up. Returns `undefined` if there
 * is no place.
 */
function pause<Res>(
  writer: ResponseWriter<Res>,
  res: Res,
  decision: Decision,
  delayMs: number,
  places = new SharedPlaces(MAX_DELAYED),
): Promise<boolean> | undefined {
  const key = chargedParts(decision)?.[0]?.key ?? ''
  if (!places.hasPlaceFor(key)) return undefined
  places.take(key)
  return new Promise<boolean>((resolve) => {
    let stopListening: (() => void) | undefined
    const cancel = callAt(performance.now() + delayMs, () => {
      stopListening?.()
      resolve(true)
    })
    stopListening = writer.onceAborted(res, () => {
      cancel()
      resolve(false)
    })
  }).finally(() => places.giveBack(key))
}

function denyUndelayed<Req extends object, Res>(
  steps: RequestSteps<Req, Res>,
  req: Req,
  res: Res,
  onDenied: Respond | undefined,
  decision: Decision,
  delayMs: number,
): MaybePromise<boolean> {
  const { writer, limiter, stepped } = steps
  const denial = denyUndelayable(decision, delayMs)
  writer.recordDecision(req, limiter, denial)
  return denyRequest(steps, req, res, onDenied, stepped.report(denial, req))
}
