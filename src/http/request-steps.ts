import { limiterFrom } from '../features/create-limiter.js'
import { isHolding } from '../features/holdings.js'
import type { Limiter } from '../features/limiter.js'
import { peerAddress } from '../keys/connection.js'
import { headerOf } from '../keys/key.js'
import { type Decision, undelayedDecision } from '../limiter/decision.js'
import { isReport } from '../limiter/mode.js'
import { isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { refusalFor, refusalOf } from './answer.js'
import type { Delayer } from './delay.js'
import type { DenialFigures } from './denial-body.js'
import { denialHeaders, rateLimitHeaders } from './headers.js'
import { holdUnits } from './hold-units.js'
import { type RequestOptions, readRequestOptions } from './options.js'
import { decisionFor, recordDecision } from './recorded-decision.js'
import type { OnAllowed } from './refund-uncounted.js'
import type { Server } from './server.js'

export interface GuardSteps<Req, Res> {
  /** Called before anything is charged. Returns whether the response is a 400, unless in report mode. */
  readonly isMalformed?: (req: Req) => MaybePromise<boolean>
  /** Returns what a denied request is shown of its decision. Default: all of it. */
  readonly figuresOf?: (decision: Decision) => DenialFigures
  /** Called in place of what `count` does. */
  readonly onAllowed?: OnAllowed<Req, Res>
}

export interface RequestSteps<Req extends object, Res> {
  readonly limiter: Limiter<Req>
  /**
   * Returns whether a request passes. If not, has responded, unless its client has left. Throws or rejects with
   * what a function among the options threw. `onLimited` replaces the response to a request over its limit.
   */
  run(req: Req, res: Res, onLimited: ((decision: Decision) => unknown) | undefined): MaybePromise<boolean>
}

/**
 * Creates the steps of a request, which stand below in order. Each returns whether the request passes, and has
 * responded if it does not. `owner` is the function that errors name.
 */
export function requestSteps<Req extends object, Res>(
  owner: string,
  options: RequestOptions<Req, Res>,
  server: Server<Res>,
  guard: GuardSteps<Req, Res> = {},
): RequestSteps<Req, Res> {
  const settings = readRequestOptions(owner, options, server)
  const { delayer } = settings
  const { modeSwitch, entries } = settings.limiter
  const canHold = entries.some(({ policy }) => typeof policy === 'function' || policy.holdsUnits)
  const { isMalformed, figuresOf, onAllowed = settings.onAllowed } = guard
  const headersOf = rateLimitHeaders(settings.headers, settings.resetFormat, server)
  const { limiter, access, chargeLimits, report } = limiterFrom<Req>(owner, settings.limiter)
  type OnLimited = ((decision: Decision) => unknown) | undefined
  type Step = (req: Req, res: Res, onLimited: OnLimited) => MaybePromise<boolean>

  // A step that the options leave out is not taken.
  const chargeStep: Step = delayer === undefined ? charge : chargeOrDelay(delayer)
  const inputStep: Step = isMalformed === undefined ? chargeStep : checkInput(isMalformed)
  const accessStep: Step = access.check === undefined ? inputStep : checkAccess(access.check)

  /** Applies the decision on a request again where a limiter is mounted twice on a path: it is charged once. */
  function start(req: Req, res: Res, onLimited: OnLimited): MaybePromise<boolean> {
    const earlier = decisionFor(req, limiter)
    if (earlier === undefined) return accessStep(req, res, onLimited)
    return earlier.allowed || isReport(modeSwitch) || refuse(req, res, onLimited, earlier)
  }

  function checkAccess(check: NonNullable<typeof access.check>): Step {
    return (req, res, onLimited) =>
      withResult(req, check(req, res), (exempt) => {
        if (exempt === undefined) return inputStep(req, res, onLimited)
        report(exempt, req)
        return exempt.allowed || isReport(modeSwitch) || refuse(req, res, onLimited, exempt)
      })
  }

  function checkInput(isWrong: NonNullable<typeof isMalformed>): Step {
    return (req, res, onLimited) =>
      withResult(req, isWrong(req), (malformed) =>
        malformed && !isReport(modeSwitch) ? refuseMalformed(req, res) : chargeStep(req, res, onLimited),
      )
  }

  function charge(req: Req, res: Res, onLimited: OnLimited): MaybePromise<boolean> {
    const decision = chargeLimits(req, report)
    if (isPromise(decision)) return decision.then((later) => respond(req, res, onLimited, later))
    return respond(req, res, onLimited, decision)
  }

  function respond(req: Req, res: Res, onLimited: OnLimited, decision: Decision): MaybePromise<boolean> {
    setHeaders(req, res, decision)
    if (!decision.allowed && !isReport(modeSwitch)) return refuse(req, res, onLimited, decision)
    if (canHold && isHolding(decision) && !holdUnits(limiter, server, res, decision) && !isReport(modeSwitch))
      return false
    return onAllowed === undefined || pass(req, res, decision)
  }

  function setHeaders(req: Req, res: Res, decision: Decision): void {
    const isFirst = recordDecision(req, limiter, decision)
    if (!isReport(modeSwitch)) server.setHeaders(res, headersOf(res, decision, isFirst))
  }

  function pass(req: Req, res: Res, decision: Decision): true {
    onAllowed?.(limiter, req, res, decision)
    return true
  }

  /** Reports a decision once its delay is known, since a request that cannot be delayed is denied. */
  function chargeOrDelay(delayRequest: Delayer<Req, Res>): Step {
    return (req, res, onLimited) => {
      const charged = chargeLimits(req, (decision) => decision)
      return thenMaybe(charged, (decision) => {
        // A policy function may return concurrency, whose units no request holds while it waits.
        if (!decision.allowed || isHolding(decision) || isReport(modeSwitch))
          return respond(req, res, onLimited, report(decision, req))
        setHeaders(req, res, decision)
        return delayRequest(req, res, decision, {
          report: () => void report(decision, req),
          pass: () => pass(req, res, decision),
          deny(delayMs) {
            const denial = undelayedDecision(decision, delayMs)
            recordDecision(req, limiter, denial)
            return refuse(req, res, onLimited, report(denial, req))
          },
        })
      })
    }
  }

  function refuse(req: Req, res: Res, onLimited: OnLimited, decision: Decision): MaybePromise<false> {
    if (server.areHeadersSent(res)) return abort(res)
    const isLimited = decision.source !== 'closed' && decision.source !== 'blocked'
    const figures = (isLimited && figuresOf?.(decision)) || decision
    if (isLimited && onLimited !== undefined) {
      server.setHeaders(res, denialHeaders(figures))
      return thenMaybe(onLimited(decision), () => false as const)
    }
    server.send(res, refusalOf(decision, figures, settings, headerOf(req, 'accept')), figures)
    return false
  }

  function refuseMalformed(req: Req, res: Res): false {
    if (server.areHeadersSent(res)) return abort(res)
    server.send(res, refusalFor('malformed', 400, headerOf(req, 'accept')))
    return false
  }

  function abort(res: Res): false {
    server.abort(res)
    return false
  }

  return { limiter, run: start }
}

/** Calls `use` with the result of an option's function. A request aborted meanwhile keeps its address. */
function withResult<T>(
  req: object,
  result: MaybePromise<T>,
  use: (result: T) => MaybePromise<boolean>,
): MaybePromise<boolean> {
  if (isPromise(result)) peerAddress(req) // Node.js remembers it now
  return thenMaybe(result, use)
}
