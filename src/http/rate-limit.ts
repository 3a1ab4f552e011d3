import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision } from '../limiter/decision.js'
import type { MiddlewareLimiter } from '../limiter/limiter.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { show } from '../util/validate.js'
import { checkNodeCall } from './check-caller.js'
import type { Respond } from './deny-request.js'
import type { DenialOptions, Next, NodeTypes, RateLimitOptions } from './options.js'
import { passRequest, type RequestSteps, requestSteps } from './request-steps.js'
import { nodeWriter } from './response-writer.js'
import { hearErrors } from './unheard-error.js'

/** Middleware for Express and Connect, or a guard in a node:http handler. */
export interface RateLimitMiddleware<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> {
  (req: Req, res: Res, next: Next): void
  readonly limiter: MiddlewareLimiter<Req>
}

/** A request that may have passed a limiter. `headgate` adds the property to Express' own type. */
export type RateLimited<Req = IncomingMessage> = Req & {
  /** The decision of the last limiter that this request passed. */
  rateLimit?: Decision
}

/**
 * Creates middleware for Connect that limits the requests of each client. It is also a guard for a
 * `node:http` handler.
 *
 * An allowed request goes on to `next()`, with the decision at `req.rateLimit`. A denied request gets a
 * response:
 *
 * - 429 with `Retry-After` if it is over its limit,
 * - 403 if its IP address is in `block`,
 * - 503 if the store failed and `onStoreError` is `'deny'`.
 *
 * The middleware is synchronous if the store and the option functions are.
 *
 * If a request is denied after the application sent the headers of its response, the connection is closed
 * (in HTTP/2, the stream). A process warning (`HEADGATE_HEADERS_SENT`) reports this once. A response that
 * has ended is left alone.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { rateLimit } from 'headgate/http'
 *
 * const limit = rateLimit({ limit: 100, window: '1m' })
 * createServer((req, res) => {
 *   limit(req, res, (error) => {
 *     if (error) res.writeHead(500).end()
 *     else res.end('hello')
 *   })
 * }).listen(3000)
 * ```
 */
export function rateLimit<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
>(options: RateLimitOptions<NodeTypes<Req, Res>>): RateLimitMiddleware<Req, Res> {
  const steps = requestSteps<Req, Res>('rateLimit', options, nodeWriter)
  return middlewareOf(steps, options.onDenied)
}

type OnDenied<Req extends IncomingMessage, Res extends ServerResponse> = NonNullable<
  DenialOptions<NodeTypes<Req, Res>>['onDenied']
>

/** Creates middleware that runs these steps. */
export function middlewareOf<Req extends IncomingMessage, Res extends ServerResponse>(
  steps: RequestSteps<Req, Res>,
  onDenied: OnDenied<Req, Res> | undefined,
): RateLimitMiddleware<Req, Res> {
  const { owner } = steps
  let isChecked = false

  function rateLimitMiddleware(req: Req, res: Res, next: Next): void {
    if (!isChecked) isChecked = checkNodeCall(owner, req, next)
    const respond = onDenied && denialResponder(onDenied, req, res, next)
    runSteps(steps, req, res, respond, next.length > 0 ? next : hearErrors(owner, req, res, next))
  }

  return Object.assign(rateLimitMiddleware, { limiter: steps.limiter })
}

/**
 * Creates the function that responds to a denied request with the user's `onDenied`. If the middleware
 * itself made these closures, it would allocate their variables for every request.
 */
function denialResponder<Req extends IncomingMessage, Res extends ServerResponse>(
  onDenied: OnDenied<Req, Res>,
  req: Req,
  res: Res,
  next: Next,
): Respond {
  return (decision, withdraw) => onDenied(req, res, nextAfterDenial(next, withdraw), decision)
}

/** Returns a `next` for a denied request. It takes the denial back, unless it is called with an error. */
function nextAfterDenial(next: Next, withdraw: () => void): Next {
  return (error) => {
    if (!error || error === 'route' || error === 'router') withdraw() // Express passes requests on with these
    next(error)
  }
}

/** Runs the steps of a request. Calls `next` if it passes, or with what a step threw. */
export function runSteps<Req extends object, Res>(
  steps: RequestSteps<Req, Res>,
  req: Req,
  res: Res,
  onDenied: Respond | undefined,
  next: (error?: Error) => void,
): void {
  let passes: MaybePromise<boolean>
  try {
    passes = passRequest(steps, req, res, onDenied)
  } catch (error) {
    next(asError(steps.owner, error))
    return
  }
  if (passes === true) next()
  else if (passes !== false)
    passes.then(
      (pass) => pass && next(),
      (thrown) => next(asError(steps.owner, thrown)),
    )
}

/** Returns an error for `next`. Express gives falsy values, `'route'` and `'router'` other meanings. */
export function asError(owner: string, thrown: unknown): Error {
  if (thrown instanceof Error) return thrown
  return new Error(`${owner}: an option function threw ${show(thrown)}`, { cause: thrown })
}
