import { chargeLimits, limiterFrom } from '../features/create-limiter.js'
import { isHolding } from '../features/holdings.js'
import type { Limiter } from '../features/limiter.js'
import { headerOf, peerAddress } from '../keys/request.js'
import { asDecided, type Decision, denyUndelayable } from '../limiter/decision.js'
import { emitFailure } from '../limiter/events.js'
import { endUndecided } from '../limiter/undecided.js'
import { holdUndecided } from '../pipe/hold-undecided.js'
import type { ServerTypes } from '../util/framework-types.js'
import { catchMaybe, isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { giveBack, type OnAllowed, releaseOnEnd } from './after-response.js'
import type { Delayer } from './delay.js'
import type { DenialFigures } from './denial-body.js'
import { denier, type Respond } from './deny-request.js'
import { rateLimitHeaders } from './headers.js'
import { type RequestOptions, readRequestOptions } from './options.js'
import { noOutcome } from './placeholder.js'
import { decisionFor, recordDecision } from './recorded-decision.js'
import { undecidedDenial } from './response-parts.js'
import type { ResponseWriter } from './response-writer.js'

export interface GuardSteps<Req, Res> {
  /** Called before anything is charged. If it returns true, the response is a 400, except in report mode. */
  readonly isMalformed?: (req: Req) => MaybePromise<boolean>
  /** Returns the figures in the response to a request over its limit. Default: those of its decision. */
  readonly denialFigures?: (decision: Decision) => DenialFigures
  /** Called for each allowed request, in place of the refunds by `count`. */
  readonly onAllowed?: OnAllowed<Req, Res>
}

/** The steps that decide a request, for the middleware of each framework. */
export interface RequestSteps<Req extends object, Res> {
  readonly limiter: Limiter<Req>
  /**
   * Returns whether a request passes. If it does not pass, the response has been sent, unless the client
   * has left. `onDenied` replaces the response to a request over its limit. Throws or rejects with what an
   * option function threw.
   */
  run(req: Req, res: Res, onDenied: Respond | undefined): MaybePromise<boolean>
}

/**
 * Creates the steps of a request, in their order below. Each returns whether the request passes, and
 * responds if it does not. `owner` is the function named in error messages.
 */
export function requestSteps<Req extends object, Res>(
  owner: string,
  options: RequestOptions<ServerTypes<Req, Res>>,
  writer: ResponseWriter<Res>,
  guard: GuardSteps<Req, Res> = {},
): RequestSteps<Req, Res> {
  const settings = readRequestOptions(owner, options, writer)
  const { delayer } = settings
  const { modeSwitch, canHold } = settings.limiter
  const { isMalformed, denialFigures, onAllowed = settings.onAllowed } = guard
  const headersOf = rateLimitHeaders(settings.headers, settings.resetFormat, writer)
  const isFollowed = onAllowed !== undefined || delayer !== undefined
  const mayFollow = isFollowed || canHold
  const isDecidedLater = settings.count !== 'all' || denialFigures !== undefined
  const stepped = limiterFrom<Req>(owner, {
    ...settings.limiter,
    ...(isDecidedLater && { holdUndecided }),
  })
  const { limiter, access, report } = stepped
  const { deny, send } = denier<Req, Res>(settings, writer, denialFigures)
  type Step = (req: Req, res: Res, onDenied: Respond | undefined) => MaybePromise<boolean>

  // A step whose option is not set is left out.
  const chargeStep: Step = delayer === undefined ? charge : chargeOrDelay(delayer)
  const inputStep: Step = isMalformed === undefined ? chargeStep : checkInput(isMalformed)
  const accessStep: Step = access.check === undefined ? inputStep : checkAccess(access.check)

  /**
   * If the limiter is mounted twice on a path, reuses the first decision, so that a request is charged once.
   */
  function start(req: Req, res: Res, onDenied: Respond | undefined): MaybePromise<boolean> {
    const earlier = decisionFor(req, limiter)
    if (earlier === undefined) return accessStep(req, res, onDenied)
    return earlier.allowed || modeSwitch.mode === 'report' || deny(req, res, onDenied, earlier)
  }

  function checkAccess(check: NonNullable<typeof access.check>): Step {
    return (req, res, onDenied) =>
      withResult(req, check(req, res), (accessDecision) => {
        if (accessDecision === undefined) return inputStep(req, res, onDenied)
        report(accessDecision, req)
        return (
          accessDecision.allowed || modeSwitch.mode === 'report' || deny(req, res, onDenied, accessDecision)
        )
      })
  }

  function checkInput(isWrong: NonNullable<typeof isMalformed>): Step {
    return (req, res, onDenied) =>
      withResult(req, isWrong(req), (malformed) =>
        malformed && modeSwitch.mode !== 'report'
          ? send(res, undecidedDenial('malformed', 400, headerOf(req, 'accept')))
          : chargeStep(req, res, onDenied),
      )
  }

  function charge(req: Req, res: Res, onDenied: Respond | undefined): MaybePromise<boolean> {
    const decision = chargeLimits(stepped, req, undefined, report)
    if ('then' in decision) return decision.then((later) => respond(req, res, onDenied, later))
    return respond(req, res, onDenied, decision)
  }

  function respond(
    req: Req,
    res: Res,
    onDenied: Respond | undefined,
    decision: Decision,
  ): MaybePromise<boolean> {
    setHeaders(req, res, decision)
    if (!decision.allowed && modeSwitch.mode !== 'report') return deny(req, res, onDenied, decision)
    if (mayFollow && lacksOutcome(res, decision)) return withoutOutcome(decision)
    if (
      canHold &&
      isHolding(decision) &&
      !releaseOnEnd(limiter, writer, res, decision) &&
      modeSwitch.mode !== 'report'
    )
      return endUnlessPassed(decision, () => false)
    return onAllowed === undefined || pass(req, res, decision)
  }

  function setHeaders(req: Req, res: Res, decision: Decision): void {
    const isFirst = recordDecision(req, limiter, decision)
    if (modeSwitch.mode !== 'report') writer.setHeaders(res, headersOf(res, decision, isFirst))
  }

  /** Returns whether headgate has to follow a response that cannot be followed. */
  function lacksOutcome(res: Res, decision: Decision): boolean {
    return writer.isPlaceholder(res) && (isFollowed || isHolding(decision))
  }

  /**
   * Lets exempt requests pass. Refunds other requests, and throws. In report mode, the others also pass, and
   * stay charged, like requests whose client hangs up.
   */
  function withoutOutcome(decision: Decision): true {
    if (decision.source === 'none') return true
    endUndecided(decision)
    void limiter.release(decision)
    const error = noOutcome(owner)
    if (modeSwitch.mode === 'report') {
      emitFailure(limiter.events, 'refundFailed', error, decision)
      return true
    }
    void giveBack(limiter, decision)
    throw error
  }

  /** Ends the undecided time of a request that does not reach its handler. */
  function endUnlessPassed(decision: Decision, step: () => MaybePromise<boolean>): MaybePromise<boolean> {
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

  function pass(req: Req, res: Res, decision: Decision): true {
    onAllowed?.(limiter, req, res, decision)
    return true
  }

  /** Reports a decision only once its delay is known, because a request that cannot be delayed is denied. */
  function chargeOrDelay(delayRequest: Delayer<Req, Res>): Step {
    return (req, res, onDenied) => {
      const charged = chargeLimits(stepped, req, undefined, asDecided)
      return thenMaybe(charged, (decision) => {
        // A policy function may return concurrency, which is never delayed: a request would hold its units.
        if (!decision.allowed || isHolding(decision) || modeSwitch.mode === 'report')
          return respond(req, res, onDenied, report(decision, req))
        setHeaders(req, res, decision)
        if (lacksOutcome(res, decision)) return withoutOutcome(decision)
        const delayed = () =>
          delayRequest(req, res, decision, {
            report: () => void report(decision, req),
            pass: () => pass(req, res, decision),
            deny(delayMs) {
              const denial = denyUndelayable(decision, delayMs)
              recordDecision(req, limiter, denial)
              return deny(req, res, onDenied, report(denial, req))
            },
          })
        return endUnlessPassed(decision, delayed)
      })
    }
  }

  return { limiter, run: start }
}

/**
 * Calls `use` with the result of an option function. A request that is aborted meanwhile keeps its address.
 */
function withResult<T>(
  req: object,
  result: MaybePromise<T>,
  use: (result: T) => MaybePromise<boolean>,
): MaybePromise<boolean> {
  if (isPromise(result)) peerAddress(req) // reading it makes Node.js cache it
  return thenMaybe(result, use)
}
