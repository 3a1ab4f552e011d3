import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SourceAddress } from '../keys/address.js'
import { isDisconnectedError, rememberPeerAddress } from '../keys/connection.js'
import { CLOSED, type Decision } from '../limiter/decision.js'
import { type Limiter, limiterFrom } from '../limiter/limiter.js'
import { isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { show } from '../util/validate.js'
import { abort } from './connection.js'
import { denialHeaders, type HeaderList } from './headers.js'
import {
  type MiddlewareSettings,
  type Next,
  type RateLimitOptions,
  readMiddlewareOptions,
} from './options.js'
import { refuse } from './refuse.js'
import { decisionHeaders, send, setAll } from './respond.js'

declare global {
  namespace Express {
    interface Request {
      /** The decision of the last limiter that this request passed. */
      rateLimit?: Decision
    }
  }
}

/** Express and Connect middleware, or a guard in a node:http handler; carries its limiter. */
export interface RateLimitMiddleware<Req extends IncomingMessage, Res extends ServerResponse> {
  (req: Req, res: Res, next: Next): void
  readonly limiter: Limiter<Req>
}

/** Which middleware has seen a request, so that one mounted twice on a path counts it once. */
const SEEN_BY = Symbol('headgate.seenBy')

/** A request that passed a limiter, for Connect and node:http; Express' own request type is extended by itself. */
export type RateLimited<Req = IncomingMessage> = Req & {
  /** The decision of the last limiter that this request passed. */
  rateLimit?: Decision
}

type Marked<Req> = RateLimited<Req> & { [SEEN_BY]?: unknown[] }

/**
 * Makes middleware that lets a request through with `next()`, or answers it: 429 with `Retry-After` when it is over its
 * limit, 403 when its address is in `block`, 503 when the store failed and `onStoreError` is `'deny'`. The request carries
 * its `Decision` as `req.rateLimit`. Synchronous where the store and the options' functions are.
 *
 * Where somebody else has sent the headers of a response before its request is refused, the connection is
 * closed (in HTTP/2 the stream), which a process warning (`HEADGATE_HEADERS_SENT`) reports once. A response
 * that has been ended is left alone.
 *
 * Throws a `TypeError` for wrong options, with the mend in the message.
 */
export function rateLimit<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
>(options: RateLimitOptions<Req, Res>): RateLimitMiddleware<Req, Res> {
  return middlewareFrom('rateLimit', readMiddlewareOptions('rateLimit', options))
}

/** Makes middleware from settings that were read; `owner` is who speaks in errors. */
export function middlewareFrom<Req extends IncomingMessage, Res extends ServerResponse>(
  owner: string,
  settings: MiddlewareSettings<Req, Res>,
): RateLimitMiddleware<Req, Res> {
  const { skip, addresses, isMalformed, onAllowed, onLimited, enforce } = settings
  const { statusCode, message } = settings
  const headersOf = decisionHeaders(settings.headers, settings.resetFormat)
  const limiter = limiterFrom<Req>(owner, settings.limiter)

  function rateLimitMiddleware(req: Req, res: Res, next: Next): void {
    const passes = consider(req, res, next)
    if (isPromise(passes)) {
      passes.then(
        (pass) => pass && next(),
        (thrown) => next(asError(owner, thrown)),
      )
    } else if (passes) next()
  }

  /** Whether the request goes on; where it does not, it has been answered, or `next` has an error. */
  function consider(req: Req, res: Res, next: Next): MaybePromise<boolean> {
    try {
      if (skip === undefined) return gate(req, res, next)
      const skipped = skip(req, res)
      if (isPromise(skipped)) rememberPeerAddress(req)
      return thenMaybe(skipped, (skips) => (skips ? true : gate(req, res, next)))
    } catch (error) {
      next(asError(owner, error))
      return false
    }
  }

  function gate(req: Req, res: Res, next: Next): MaybePromise<boolean> {
    if (addresses !== undefined) {
      let address: SourceAddress | undefined
      try {
        address = addresses.read(req)
      } catch (error) {
        if (isDisconnectedError(error)) return answer(req, res, next, CLOSED)
        throw error
      }
      if (enforce && addresses.isBlocked(address)) return refuse(req, res, 'blocked', 403)
      if (addresses.isAllowed(address)) return true
    }
    if (seenBefore(req, rateLimitMiddleware)) return true
    if (!enforce || isMalformed === undefined) return decide(req, res, next)
    const malformed = isMalformed(req)
    if (isPromise(malformed)) rememberPeerAddress(req)
    return thenMaybe(malformed, (isSo) =>
      isSo ? refuse(req, res, 'malformed', 400) : decide(req, res, next),
    )
  }

  function decide(req: Req, res: Res, next: Next): MaybePromise<boolean> {
    const decision = limiter.charge(req)
    if (isPromise(decision)) return decision.then((known) => answer(req, res, next, known))
    return answer(req, res, next, decision)
  }

  function answer(req: RateLimited<Req>, res: Res, next: Next, decision: Decision): MaybePromise<boolean> {
    const isFirst = req.rateLimit === undefined
    req.rateLimit = decision
    const passes = decision.allowed || !enforce
    if (!passes && res.headersSent) return abort(res)
    if (enforce && !res.headersSent) {
      const quota = headersOf(res, decision, isFirst)
      if (!passes) return deny(req, res, next, decision, [...quota, ...denialHeaders(decision)])
      setAll(res, quota)
    }
    if (passes) onAllowed?.(limiter, req, res, decision)
    return passes
  }

  function deny(req: Req, res: Res, next: Next, decision: Decision, list: HeaderList): MaybePromise<boolean> {
    if (decision.source === 'closed') return refuse(req, res, 'store-failed', 503, list, decision)
    if (onLimited !== undefined) {
      setAll(res, list)
      return thenMaybe(onLimited(req, res, next, decision), () => false)
    }
    if (message !== undefined) return send(res, statusCode, list, message)
    return refuse(req, res, 'limited', statusCode, list, decision)
  }

  return Object.assign(rateLimitMiddleware, { limiter })
}

/** What `next` is given: always an error. Express takes a falsy value, `'route'` and `'router'` for something else. */
function asError(owner: string, thrown: unknown): Error {
  if (thrown instanceof Error) return thrown
  return new Error(`${owner}: a function among the options threw ${show(thrown)}`, { cause: thrown })
}

/** Marks a request as seen by a middleware, and tells whether it was before. */
function seenBefore(req: Marked<IncomingMessage>, middleware: unknown): boolean {
  const seenBy = req[SEEN_BY]
  if (seenBy === undefined) req[SEEN_BY] = [middleware]
  else if (seenBy.includes(middleware)) return true
  else seenBy.push(middleware)
  return false
}
