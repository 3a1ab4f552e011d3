import { peerAddress } from '../keys/request.js'
import type { ModeSwitch } from '../limiter/access-rules.js'
import { chargeLimits } from '../limiter/charge-limits.js'
import { isHolding } from '../limiter/concurrency/held-by-decision.js'
import { limiterFrom, type SteppedLimiter } from '../limiter/create-limiter.js'
import type { Decision } from '../limiter/decision.js'
import { emitFailure } from '../limiter/events.js'
import type { MiddlewareLimiter } from '../limiter/limiter.js'
import { endUndecided } from '../limiter/undecided.js'
import { trackUndecided } from '../pipe/track-undecided.js'
import type { ServerTypes } from '../util/framework-types.js'
import { catchMaybe, isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { giveBack, type OnAllowed, releaseOnEnd } from './after-response.js'
import type { DenialFigures } from './denial-body.js'
import { type Denier, denyRequest, type Respond } from './deny-request.js'
import { type RequestOptions, readRequestOptions } from './options.js'
import { type HeaderSettings, rateLimitHeaders } from './quota-headers.js'
import { decisionFor } from './recorded-decision.js'
import type { ResponseWriter } from './response-writer.js'

export interface GuardSteps<Req extends object, Res> {
  /** Called in place of `chargeRequest`, which it calls unless a request is malformed. */
  readonly charge?: ChargeRequest<Req, Res>
  /** Returns the figures for the response to a request over its limit. Default: those of its decision. */
  readonly denialFigures?: (decision: Decision) => DenialFigures
  /** Called for each allowed request, in place of the refunds by `count`. */
  readonly onAllowed?: OnAllowed<Req, Res>
}

/** Charges a request, and returns whether it passes. */
export type ChargeRequest<Req extends object, Res> = (
  steps: RequestSteps<Req, Res>,
  req: Req,
  res: Res,
  onDenied: Respond | undefined,
) => MaybePromise<boolean>

/** What `passRequest` needs to decide the requests of one limiter, in any framework. */
export interface RequestSteps<Req extends object, Res> extends Denier<Res> {
  /** The function named in error messages. */
  readonly owner: string
  readonly limiter: MiddlewareLimiter<Req>
  readonly stepped: SteppedLimiter<Req>
  readonly modeSwitch: ModeSwitch
  readonly headers: HeaderSettings<Res>
  readonly charge: ChargeRequest<Req, Res>
  readonly onAllowed: OnAllowed<Req, Res> | undefined
  /** Whether headgate has to see how each response ends. Units of `concurrency` also need that. */
  readonly needsOutcome: boolean
  /** Whether a charge may take units of `concurrency`. */
  readonly canHold: boolean
}

/** Creates a limiter for requests from its options. Error messages name `owner`. */
export function requestSteps<Req extends object, Res>(
  owner: string,
  options: RequestOptions<ServerTypes<Req, Res>>,
  writer: ResponseWriter<Res>,
  guard: GuardSteps<Req, Res> = {},
): RequestSteps<Req, Res> {
  const settings = readRequestOptions(owner, options, writer)
  const { delay } = settings
  const { charge = delay?.charge ?? chargeRequest, denialFigures } = guard
  const { onAllowed = settings.onAllowed } = guard
  const isDecidedLater = settings.count !== 'all' || denialFigures !== undefined
  const limiterSettings = { ...settings.limiter, ...(isDecidedLater && { trackUndecided }) }
  const stepped = limiterFrom<Req>(owner, limiterSettings)
  return {
    owner,
    limiter: stepped.limiter,
    stepped,
    modeSwitch: settings.limiter.modeSwitch,
    writer,
    headers: { style: settings.headers, reset: settings.resetFormat, writer },
    denial: settings,
    denialFigures,
    charge,
    onAllowed,
    needsOutcome: onAllowed !== undefined || delay !== undefined,
    canHold: settings.limiter.canHold,
  }
}

/**
 * Returns whether a request passes. If it does not pass, the response has been sent, unless the client has
 * left. `onDenied` replaces the response to a request over its limit. Throws or rejects with what an option
 * function threw. If the limiter is mounted twice on a path, a request is charged once: the second time
 * reuses the first decision.
 */
export function passRequest<Req extends object, Res>(
  steps: RequestSteps<Req, Res>,
  req: Req,
  res: Res,
  onDenied: Respond | undefined,
): MaybePromise<boolean> {
  const { limiter, stepped, charge } = steps
  const earlier = decisionFor(req, limiter)
  if (earlier !== undefined) return earlier.allowed || denyUnlessReported(steps, req, res, onDenied, earlier)
  if (stepped.access.check !== undefined) return checkAccess(steps, req, res, onDenied)
  return charge(steps, req, res, onDenied)
}

function checkAccess<Req extends object, Res>(
  steps: RequestSteps<Req, Res>,
  req: Req,
  res: Res,
  onDenied: Respond | undefined,
): MaybePromise<boolean> {
  const { access, report } = steps.stepped
  return withResult(req, access.check?.(req, res), (decision) => {
    if (decision === undefined) return steps.charge(steps, req, res, onDenied)
    report(decision, req)
    return decision.allowed || denyUnlessReported(steps, req, res, onDenied, decision)
  })
}

export function chargeRequest<Req extends object, Res>(
  steps: RequestSteps<Req, Res>,
  req: Req,
  res: Res,
  onDenied: Respond | undefined,
): MaybePromise<boolean> {
  const { stepped } = steps
  const decision = chargeLimits(stepped, req, undefined, stepped.report)
  if ('then' in decision) return decision.then((later) => respond(steps, req, res, onDenied, later))
  return respond(steps, req, res, onDenied, decision)
}

export function respond<Req extends object, Res>(
  steps: RequestSteps<Req, Res>,
  req: Req,
  res: Res,
  onDenied: Respond | undefined,
  decision: Decision,
): MaybePromise<boolean> {
  const { limiter, writer, modeSwitch, canHold, needsOutcome } = steps
  setHeaders(steps, req, res, decision)
  if (!decision.allowed && modeSwitch.mode !== 'report')
    return denyRequest(steps, req, res, onDenied, decision)
  if (!canHold && !needsOutcome) return true
  const error = noOutcome(steps, res, decision)
  if (error !== undefined) return passWithoutOutcome(steps, decision, error)
  const hasEnded = canHold && isHolding(decision) && !releaseOnEnd(limiter, writer, res, decision)
  if (hasEnded && modeSwitch.mode !== 'report') return endUnlessPassed(decision, () => false)
  return pass(steps, req, res, decision)
}

export function setHeaders<Req extends object, Res>(
  { limiter, modeSwitch, writer, headers }: RequestSteps<Req, Res>,
  req: Req,
  res: Res,
  decision: Decision,
): void {
  const isFirst = writer.recordDecision(req, limiter, decision)
  if (modeSwitch.mode !== 'report') writer.setHeaders(res, rateLimitHeaders(headers, res, decision, isFirst))
}

/** Denies a request, unless the limiter only reports denials. */
function denyUnlessReported<Req extends object, Res>(
  steps: RequestSteps<Req, Res>,
  req: Req,
  res: Res,
  onDenied: Respond | undefined,
  decision: Decision,
): MaybePromise<boolean> {
  return steps.modeSwitch.mode === 'report' || denyRequest(steps, req, res, onDenied, decision)
}

/** Returns the error if headgate needs the outcome of a response, but cannot see it. */
export function noOutcome<Req extends object, Res>(
  { owner, writer, needsOutcome }: RequestSteps<Req, Res>,
  res: Res,
  decision: Decision,
): TypeError | undefined {
  return needsOutcome || isHolding(decision) ? writer.noOutcome?.(res, owner) : undefined
}

/**
 * Lets exempt requests pass. Refunds all others and throws, except in report mode: there they pass and stay
 * charged, as if the client had hung up.
 */
export function passWithoutOutcome<Req extends object, Res>(
  { limiter, stepped, modeSwitch }: RequestSteps<Req, Res>,
  decision: Decision,
  error: TypeError,
): true {
  if (decision.source === 'none') return true
  endUndecided(decision)
  void limiter.release(decision)
  if (modeSwitch.mode === 'report') {
    emitFailure(limiter.events, 'refundFailed', error, decision)
    return true
  }
  void giveBack(stepped, decision)
  throw error
}

export function pass<Req extends object, Res>(
  { stepped, onAllowed }: RequestSteps<Req, Res>,
  req: Req,
  res: Res,
  decision: Decision,
): true {
  onAllowed?.(stepped, req, res, decision)
  return true
}

/** Runs the last step before the handler. A request that does not pass it is no longer undecided. */
export function endUnlessPassed(
  decision: Decision,
  step: () => MaybePromise<boolean>,
): MaybePromise<boolean> {
  const end = (passes: boolean) => {
    if (!passes) endUndecided(decision)
    return passes
  }
  return catchMaybe(
    () => thenMaybe(step(), end),
    (error) => {
      end(false)
      throw error
    },
  )
}

/**
 * Calls `use` with the result of an option function. A request that is aborted meanwhile keeps its address.
 */
export function withResult<T>(
  req: object,
  result: MaybePromise<T>,
  use: (result: T) => MaybePromise<boolean>,
): MaybePromise<boolean> {
  if (isPromise(result)) peerAddress(req) // reading it makes Node.js cache it
  return thenMaybe(result, use)
}
