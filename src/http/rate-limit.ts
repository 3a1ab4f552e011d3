import type { IncomingMessage, ServerResponse } from 'node:http'
import { peerAddress } from '../keys/connection.js'
import { type Decision, denyDisconnected } from '../limiter/decision.js'
import { emit } from '../limiter/events.js'
import { type Limiter, limiterFrom } from '../limiter/limiter.js'
import { isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { show } from '../util/validate.js'
import type { DenialFigures } from './denial-body.js'
import { rateLimitHeaders } from './headers.js'
import { type Next, type RateLimitOptions, readMiddlewareOptions } from './options.js'
import { hasPassed, recordPassage } from './passage.js'
import type { OnAllowed } from './refund-uncounted.js'
import { refuse, respondLimited, setUnlessSent } from './respond.js'

/** Express and Connect middleware, or a guard in a node:http handler; carries its limiter. */
export interface RateLimitMiddleware<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> {
  (req: Req, res: Res, next: Next): void
  readonly limiter: Limiter<Req>
}

/** A request that may have passed a limiter. Express' own type needs no such cast: `headgate` extends it. */
export type RateLimited<Req = IncomingMessage> = Req & {
  /** The decision of the last limiter that this request passed. */
  rateLimit?: Decision
}

/**
 * Creates middleware that lets a request through with `next()`, or answers it: 429 with `Retry-After` when
 * it is over its limit, 403 when its address is in `block`, 503 when the store failed and `onStoreError` is
 * `'deny'`. The request carries its `Decision` as `req.rateLimit`. Synchronous where the store and the
 * options' functions are.
 *
 * Where the application has sent the headers of a response before its request is refused, the connection is
 * closed (in HTTP/2 the stream), which a process warning (`HEADGATE_HEADERS_SENT`) reports once. A response
 * that has been ended is left alone.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 */
export function rateLimit<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
>(options: RateLimitOptions<Req, Res>): RateLimitMiddleware<Req, Res> {
  return middlewareFrom('rateLimit', options)
}

/** What a guard changes in the steps of a request. */
interface GuardSteps<Req, Res> {
  /** Called before anything is charged. Returns whether a request is answered 400, unless in report mode. */
  readonly isMalformed?: (req: Req) => MaybePromise<boolean>
  /** Returns what a limited request is shown of its decision. Default: all of it. */
  readonly figuresOf?: (decision: Decision) => DenialFigures
  /** Called in place of what `count` does. */
  readonly onAllowed?: OnAllowed<Req, Res>
}

/**
 * Creates middleware; `owner` is the function that errors name. The steps of a request stand below in order:
 * each returns whether the request passes, and has answered it if not.
 */
export function middlewareFrom<Req extends IncomingMessage, Res extends ServerResponse>(
  owner: string,
  options: RateLimitOptions<Req, Res>,
  steps: GuardSteps<Req, Res> = {},
): RateLimitMiddleware<Req, Res> {
  const settings = readMiddlewareOptions(owner, options)
  const { skip, addressRule, enforce } = settings
  const { isMalformed, figuresOf, onAllowed = settings.onAllowed } = steps
  const headersOf = rateLimitHeaders(settings.headers, settings.resetFormat)
  const limiter = limiterFrom<Req>(owner, settings.limiter)

  function rateLimitMiddleware(req: Req, res: Res, next: Next): void {
    const passes = checkSkip(req, res, next)
    if (isPromise(passes)) {
      passes.then(
        (pass) => pass && next(),
        (thrown) => next(asError(owner, thrown)),
      )
    } else if (passes) next()
  }

  function checkSkip(req: Req, res: Res, next: Next): MaybePromise<boolean> {
    try {
      if (skip === undefined) return checkAddress(req, res, next)
      return withResult(req, skip(req, res), (skips) => (skips ? true : checkAddress(req, res, next)))
    } catch (error) {
      next(asError(owner, error))
      return false
    }
  }

  function checkAddress(req: Req, res: Res, next: Next): MaybePromise<boolean> {
    if (addressRule === undefined) return checkInput(req, res, next)
    let rule: 'allow' | 'block' | undefined
    try {
      rule = addressRule(req)
    } catch (error) {
      const decision = denyDisconnected(error)
      emit(limiter.events, 'limited', [decision, req])
      return answer(req, res, next, decision)
    }
    if (rule === 'block') return refuse(req, res, 'blocked', 403)
    return rule === 'allow' ? true : checkInput(req, res, next)
  }

  function checkInput(req: Req, res: Res, next: Next): MaybePromise<boolean> {
    if (hasPassed(req, limiter)) return true // mounted twice on a path, and charged once
    if (isMalformed === undefined) return charge(req, res, next)
    return withResult(req, isMalformed(req), (malformed) =>
      malformed && enforce ? refuse(req, res, 'malformed', 400) : charge(req, res, next),
    )
  }

  function charge(req: Req, res: Res, next: Next): MaybePromise<boolean> {
    const decision = limiter.charge(req)
    if (isPromise(decision)) return decision.then((known) => answer(req, res, next, known))
    return answer(req, res, next, decision)
  }

  function answer(req: RateLimited<Req>, res: Res, next: Next, decision: Decision): MaybePromise<boolean> {
    const isFirst = recordPassage(req, limiter, decision)
    if (enforce) setUnlessSent(res, headersOf(res, decision, isFirst))
    if (decision.allowed || !enforce) {
      onAllowed?.(limiter, req, res, decision)
      return true
    }
    if (decision.source === 'closed') return refuse(req, res, 'store-failed', 503, decision)
    return respondLimited(settings, [req, res, next], decision, figuresOf?.(decision) ?? decision)
  }

  return Object.assign(rateLimitMiddleware, { limiter })
}

/** Calls `use` with the result of an option's function. A request aborted meanwhile keeps its address. */
function withResult(
  req: IncomingMessage,
  result: MaybePromise<boolean>,
  use: (result: boolean) => MaybePromise<boolean>,
): MaybePromise<boolean> {
  if (isPromise(result)) peerAddress(req) // Node.js remembers it now
  return thenMaybe(result, use)
}

/** Returns an error for `next`. Express gives falsy values, `'route'` and `'router'` other meanings. */
function asError(owner: string, thrown: unknown): Error {
  if (thrown instanceof Error) return thrown
  return new Error(`${owner}: a function among the options threw ${show(thrown)}`, { cause: thrown })
}
