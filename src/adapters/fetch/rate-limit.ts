import type { RequestOptions } from '../../http/options.js'
import { decisionFor } from '../../http/passage.js'
import { requestSteps } from '../../http/request-steps.js'
import type { Decision } from '../../limiter/decision.js'
import type { Limiter } from '../../limiter/limiter.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { wrongKind } from '../../util/validate.js'
import {
  closeExchange,
  type Exchange,
  exchangeOf,
  fetchServer,
  finishExchange,
  openExchange,
} from './exchange.js'
import type { FetchInfo, FetchSubject, RateLimitOptions } from './options.js'

/** Of a response that nobody reads, since the client hung up while its request was delayed. */
const CLIENT_GONE = 499

/** A limiter for servers that answer a `Request` with a `Response`. */
export interface RateLimit<Info extends FetchInfo = FetchInfo> {
  /**
   * Charges a request. Resolves to a response if it is denied. Resolves to `undefined` if it is allowed:
   * pass your own response to `finish` then. Rejects with what a function among the options threw.
   */
  (request: Request, info: Info & FetchInfo): Promise<Response | undefined>
  /**
   * Returns the response with the quota headers of all limiters that charged the request, and refunds the
   * request if `count` does not count it. Replaces no header. If the headers are immutable, as in the
   * response of `Response.redirect()` or `fetch()`, returns a copy; the body is not read.
   */
  finish(request: Request, response: Response): Response
  /**
   * Resolves to the denial of a request, or to what `next` returns, passed to `finish`. A `Response` that
   * `next` throws is passed to `finish` and thrown again. After any other error the request stays charged.
   */
  handle(request: Request, info: Info & FetchInfo, next: () => MaybePromise<Response>): Promise<Response>
  /** Returns this limiter's decision on a request; `undefined` where it has made none. */
  decisionOf(request: Request): Decision | undefined
  readonly limiter: Limiter<FetchSubject<Info>>
}

/**
 * Creates a limiter for servers of the Fetch standard: Hono, Next.js, SvelteKit, Remix, Deno, Bun, Workers.
 * It responds 429 with `Retry-After` when a request is over its limit, 403 when its address is in `block`,
 * 503 when the store failed and `onStoreError` is `'deny'`.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 */
export function rateLimit<Info extends FetchInfo = FetchInfo>(
  options: RateLimitOptions<Info>,
): RateLimit<Info> {
  const { limiter, run } = requestSteps('rateLimit', stepOptions(options), fetchServer)
  const { onLimited } = options

  async function limit(request: Request, info: Info & FetchInfo): Promise<Response | undefined> {
    const exchange = openExchange(request, info)
    const subject = exchange.subject as FetchSubject<Info>
    const answer =
      onLimited &&
      (async (decision: Decision) => {
        exchange.response = checkedResponse(await onLimited(subject, decision))
      })
    if (await runOrClose(subject, exchange, answer)) return undefined
    return finishExchange(exchange, exchange.response ?? new Response(null, { status: CLIENT_GONE }))
  }

  async function runOrClose(...args: Parameters<typeof run>): Promise<boolean> {
    try {
      return await run(...args)
    } catch (error) {
      closeExchange(args[1])
      throw error
    }
  }

  function finish(request: Request, response: Response): Response {
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
      if (thrown instanceof Response) throw finish(request, thrown)
      const exchange = exchangeOf(request)
      if (exchange !== undefined) closeExchange(exchange)
      throw thrown
    }
  }

  function decisionOf(request: Request): Decision | undefined {
    const exchange = exchangeOf(request)
    return exchange && decisionFor(exchange.subject, limiter)
  }

  return Object.assign(limit, { finish, handle, decisionOf, limiter })
}

/** Returns the options for requests, whose callbacks take an exchange where those of the user take none. */
function stepOptions<Info>(options: RateLimitOptions<Info>): RequestOptions<FetchSubject<Info>, Exchange> {
  const { skip, count } = options ?? {}
  const own = {
    ...(typeof skip === 'function' && { skip: (subject: FetchSubject<Info>) => skip(subject) }),
    ...(typeof count === 'function' && {
      count: (subject: FetchSubject<Info>, { response }: Exchange) => count(subject, response as Response),
    }),
  }
  return { ...options, ...own } as RequestOptions<FetchSubject<Info>, Exchange>
}

function checkedResponse(value: unknown): Response {
  if (value instanceof Response) return value
  throw wrongKind('rateLimit', 'the result of onLimited', 'a Response', value)
}
