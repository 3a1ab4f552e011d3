import type { DenialOptions } from '../../http/options.js'
import { decisionFor } from '../../http/recorded-decision.js'
import { passRequest, type RequestSteps } from '../../http/request-steps.js'
import type { Decision } from '../../limiter/decision.js'
import type { MiddlewareLimiter } from '../../limiter/limiter.js'
import { catchMaybe, isPromise } from '../../util/maybe-promise.js'
import { wrongKind } from '../../util/validate.js'
import { fieldsOf } from '../../util/values.js'
import { type Exchange, exchangeOf, openExchange } from './exchange.js'
import { failExchange, finishExchange } from './finish.js'
import type { FetchInfo, FetchTypes } from './options.js'

/** A response that no client reads: it hung up while its request waited. */
export const CLIENT_GONE: ResponseInit = { status: 499, headers: [['Cache-Control', 'no-store']] }

/** A limiter for a server that responds to a `Request` with a `Response`, for the adapter of its framework. */
export interface ExchangeLimit<Info extends FetchInfo, Subject> {
  /** Charges a request. Resolves to the response if it is denied. Rejects with what an option function threw. */
  (request: Request, info: Info & FetchInfo): Promise<Response | undefined>
  /** Returns the response with the headers of all limiters that charged the request. */
  finish(request: Request, response: Response): Response
  decisionOf(request: Request): Decision | undefined
  readonly limiter: MiddlewareLimiter<Subject>
}

/**
 * Creates a limiter that runs these steps. `subjectOf` returns what is charged, and what callbacks are
 * called with. `checkCall` throws if users call the limiter themselves, and do so with other values.
 */
export function limitOf<Info extends FetchInfo, Subject extends object>(
  steps: RequestSteps<Subject, Exchange>,
  onDenied: DenialOptions<FetchTypes<Subject>>['onDenied'],
  subjectOf: (exchange: Exchange<Info>) => Subject,
  checkCall?: (owner: string, request: Request, info: Info) => void,
): ExchangeLimit<Info, Subject> {
  const { owner, limiter } = steps

  async function limit(request: Request, info: Info & FetchInfo): Promise<Response | undefined> {
    checkCall?.(owner, request, info)
    const exchange = openExchange<Info>(request, info)
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
    const exchange = exchangeOf(request)
    return exchange === undefined ? response : finishExchange(exchange, response)
  }

  function decisionOf(request: Request): Decision | undefined {
    const exchange = exchangeOf<Info>(request)
    return exchange && decisionFor(subjectOf(exchange), limiter)
  }

  return Object.assign(limit, { finish, decisionOf, limiter })
}

/** Returns a response. Throws a `TypeError` that names `what` for anything else. */
export function checkResponse(owner: string, what: string, value: unknown): Response {
  if (isResponse(value)) return value
  throw wrongKind(owner, what, 'a Response', value)
}

/** Returns whether this is a response. Its class may differ, as in the package undici or a ponyfill. */
export function isResponse(value: unknown): value is Response {
  if (value instanceof Response) return true
  const { status, headers } = fieldsOf(value)
  return typeof status === 'number' && typeof fieldsOf(headers).get === 'function'
}
