import { checkCaller } from '../../http/check-caller.js'
import type { DenialOptions } from '../../http/options.js'
import { decisionFor } from '../../http/recorded-decision.js'
import { passRequest, type RequestSteps } from '../../http/request-steps.js'
import type { Decision } from '../../limiter/decision.js'
import type { MiddlewareLimiter } from '../../limiter/limiter.js'
import { catchMaybe, isPromise, type MaybePromise } from '../../util/maybe-promise.js'
import { wrongKind } from '../../util/validate.js'
import { fieldsOf } from '../../util/values.js'
import { type Exchange, exchangeOf, openExchange } from './exchange.js'
import { failExchange, finishExchange } from './finish.js'
import type { FetchInfo, FetchSubject, FetchTypes } from './options.js'

/** A response that no client reads: it hung up while its request was delayed. */
const CLIENT_GONE: ResponseInit = { status: 499, headers: [['Cache-Control', 'no-store']] }

/** A limiter for servers that respond to a `Request` with a `Response`. */
export interface RateLimit<Info extends FetchInfo = FetchInfo, Subject = FetchSubject<Info>> {
  /**
   * Charges a request. Resolves to a response if it is denied, and to `undefined` if it is allowed. Then
   * pass your own response to `finish`. Rejects with what an option function threw.
   */
  (request: Request, info: Info & FetchInfo): Promise<Response | undefined>
  /**
   * Returns the response with the quota headers of all limiters that charged the request. Also refunds the
   * request if `count` does not count it. Replaces no header. If the headers are immutable, as in the
   * response of `Response.redirect()` or `fetch()`, returns a copy without reading the body.
   */
  finish(request: Request, response: Response): Response
  /**
   * Resolves to the denial of a request, or to what `next` returns, passed to `finish`. If `next` throws a
   * `Response`, it is passed to `finish` and thrown again. After any other error the request stays charged.
   */
  handle(request: Request, info: Info & FetchInfo, next: () => MaybePromise<Response>): Promise<Response>
  /** Returns this limiter's decision on a request, or `undefined` if it has made none. */
  decisionOf(request: Request): Decision | undefined
  readonly limiter: MiddlewareLimiter<Subject>
}

/**
 * Creates a limiter that runs these steps. `subjectOf` returns what is charged, and what callbacks are
 * called with.
 */
export function limitOf<Info extends FetchInfo, Subject extends object>(
  steps: RequestSteps<Subject, Exchange>,
  onDenied: DenialOptions<FetchTypes<Subject>>['onDenied'],
  subjectOf: (exchange: Exchange<Info>) => Subject,
): RateLimit<Info, Subject> {
  const { owner, limiter } = steps

  async function limit(request: Request, info: Info & FetchInfo): Promise<Response | undefined> {
    checkRequest(owner, request)
    const exchange = openExchange(request, readInfo(owner, info))
    const subject = subjectOf(exchange)
    const respond =
      onDenied &&
      (async (decision: Decision) => {
        exchange.response = checkResponse(owner, 'the result of onDenied', await onDenied(subject, decision))
      })
    const passes = catchMaybe(
      () => passRequest(steps, subject, exchange, respond),
      (error) => {
        failExchange(exchange)
        throw error
      },
    )
    if (isPromise(passes) ? await passes : passes) return undefined
    return finishExchange(exchange, exchange.response ?? new Response(null, CLIENT_GONE))
  }

  function finish(request: Request, response: Response): Response {
    checkRequest(owner, request)
    checkResponse(owner, 'response', response)
    const exchange = exchangeOf(request)
    return exchange === undefined ? response : finishExchange(exchange, response)
  }

  async function handle(
    request: Request,
    info: Info & FetchInfo,
    next: () => MaybePromise<Response>,
  ): Promise<Response> {
    const refused = await limit(request, info)
    if (refused !== undefined) return refused
    try {
      return finish(request, await next())
    } catch (thrown) {
      if (isResponse(thrown)) throw finish(request, thrown)
      failExchange(exchangeOf(request))
      throw thrown
    }
  }

  function decisionOf(request: Request): Decision | undefined {
    const exchange = exchangeOf<Info>(request)
    return exchange && decisionFor(subjectOf(exchange), limiter)
  }

  return Object.assign(limit, { finish, handle, decisionOf, limiter })
}

function checkResponse(owner: string, what: string, value: unknown): Response {
  if (isResponse(value)) return value
  throw wrongKind(owner, what, 'a Response', value)
}

/** Returns whether this is a response. Its class may differ, as in the package undici or a ponyfill. */
function isResponse(value: unknown): value is Response {
  if (value instanceof Response) return true
  const { status, headers } = fieldsOf(value)
  return typeof status === 'number' && typeof fieldsOf(headers).get === 'function'
}

/** Checks a request, which may be of another realm or of a framework. */
function checkRequest(owner: string, request: Request): void {
  if (request instanceof Request) return // its headers cost much on some servers, and are read late
  const { method, headers } = fieldsOf(request)
  if (typeof method === 'string' && typeof fieldsOf(headers).get === 'function') return
  checkCaller(owner, 'a Request, such as event.request of SvelteKit', false)
}

/** Properties that keys read from the request itself. */
const OF_REQUEST = ['method', 'url', 'headers', 'socket', 'baseUrl'] as const

function readInfo<Info extends FetchInfo>(owner: string, info: Info): Info {
  if (typeof info !== 'object' || info === null)
    throw wrongKind(owner, 'info', 'an object', info, 'Pass what the platform knows, such as { ip }.')
  const property = OF_REQUEST.find((name) => info[name] !== undefined)
  if (property === undefined) return info
  throw new TypeError(`${owner}: info has ${property}, which is read from the request. Leave it out.`)
}
