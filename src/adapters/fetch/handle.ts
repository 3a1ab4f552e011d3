import { checkCaller } from '../../http/check-caller.js'
import type { Decision } from '../../limiter/decision.js'
import type { MiddlewareLimiter } from '../../limiter/limiter.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { wrongKind } from '../../util/validate.js'
import { fieldsOf, isObject } from '../../util/values.js'
import { exchangeOf } from './exchange.js'
import { failExchange } from './finish.js'
import { checkResponse, type ExchangeLimit, isResponse } from './limit.js'
import type { FetchInfo, FetchSubject } from './options.js'

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
 * Returns a limiter that users call themselves, so that what they pass is checked. `owner` is the function
 * that errors name. `limit` was created with `checkCall`.
 */
export function withHandle<Info extends FetchInfo, Subject>(
  owner: string,
  limit: ExchangeLimit<Info, Subject>,
): RateLimit<Info, Subject> {
  const finishResponse = limit.finish

  function finish(request: Request, response: Response): Response {
    checkRequest(owner, request)
    return finishResponse(request, checkResponse(owner, 'response', response))
  }

  async function handle(
    request: Request,
    info: Info & FetchInfo,
    next: () => MaybePromise<Response>,
  ): Promise<Response> {
    const denial = await limit(request, info)
    if (denial !== undefined) return denial
    try {
      return finish(request, await next())
    } catch (thrown) {
      if (isResponse(thrown)) throw finish(request, thrown)
      failExchange(exchangeOf(request))
      throw thrown
    }
  }

  return Object.assign(limit, { finish, handle })
}

/** Checks what a limiter is called with. */
export function checkCall(owner: string, request: Request, info: FetchInfo): void {
  checkRequest(owner, request)
  checkInfo(owner, info)
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

function checkInfo(owner: string, info: FetchInfo): void {
  if (!isObject(info))
    throw wrongKind(owner, 'info', 'an object', info, 'Pass what the platform knows, such as { ip }.')
  const property = OF_REQUEST.find((name) => info[name] !== undefined)
  if (property === undefined) return
  throw new TypeError(`${owner}: info has ${property}, which is read from the request. Leave it out.`)
}
