/**
 * Limits for servers of the Fetch standard: Next.js, SvelteKit, Remix, Deno, Bun and Workers.
 *
 * @module
 */

import type { FetchInfo, FetchSubject, FetchTypes } from './adapters/fetch/options.js'
import { responseCost as httpResponseCost, type MakeResponseCost } from './http/actual-cost/option.js'
import { requestDelay as httpRequestDelay, type MakeRequestDelay } from './http/delay/option.js'
import type { RateLimitOptions as Options } from './http/options.js'
import { byUser as httpByUser, type MakeByUser } from './keys/by-user.js'
import {
  candidateLimits as limiterCandidateLimits,
  type MakeCandidateLimits,
} from './limiter/candidate/option.js'
import type { LoginGuardOptions as GuardOptions } from './login/options.js'
import type { OverloadGuardOptions as OverloadOptions } from './overload/options.js'

export type { RateLimit } from './adapters/fetch/handle.js'
export { type LoginGuard, loginGuard } from './adapters/fetch/login-guard.js'
export type { FetchInfo, FetchSubject } from './adapters/fetch/options.js'
export { type OverloadGuard, overloadGuard } from './adapters/fetch/overload-guard.js'
export { rateLimit } from './adapters/fetch/rate-limit.js'
export * from './http.js'

/**
 * The options of `rateLimit`. All functions may be async. If one throws, the promise of the limiter rejects
 * with that error. Errors of `count` and `actualCost` are emitted as `refundFailed`.
 */
export type RateLimitOptions<Info = FetchInfo> = Options<FetchTypes<FetchSubject<Info>>>

/** The options of `loginGuard`. Only `field` or `account` is required. */
export type LoginGuardOptions<Info = FetchInfo> = GuardOptions<FetchTypes<FetchSubject<Info>>>

/** The options of `overloadGuard`. All have defaults. */
export type OverloadGuardOptions<Info = FetchInfo> = OverloadOptions<FetchTypes<FetchSubject<Info>>>

/**
 * Creates a key that identifies a client by the authenticated user.
 *
 * The user is what `get` returns, or the first of `id`, `sub` and `username` that `info.user` has. Without a
 * user, the key `anonymous` identifies the client, by default `byIp()`.
 *
 * @example
 * ```ts
 * import { byUser, rateLimit } from 'headgate/fetch'
 *
 * const limit = rateLimit({ limit: 1000, window: '1h', key: byUser() })
 * export async function GET(request: Request): Promise<Response> {
 *   const user = { id: 'ada' } // your session
 *   return limit.handle(request, { user }, () => new Response('hello'))
 * }
 * ```
 * @function
 */
export const byUser: MakeByUser<FetchTypes> = httpByUser

/**
 * Creates the delay of requests, for the option `delay`. Requests of clients that have used more than `after`
 * units of their limit wait before they reach their handler.
 *
 * @example
 * ```ts
 * import { rateLimit, requestDelay } from 'headgate/fetch'
 *
 * const limit = rateLimit({ limit: 100, window: '1m', delay: requestDelay({ after: 50, by: '500ms' }) })
 * export const GET = (request: Request) => limit.handle(request, {}, () => new Response('hello'))
 * ```
 * @function
 */
export const requestDelay: MakeRequestDelay<FetchTypes> = httpRequestDelay

/**
 * Creates the cost of requests that is known only after their response, for the option `actualCost`. Each
 * request is charged `cost`, and corrected to what this function returns: units, or units by limit name.
 *
 * @example
 * ```ts
 * import { rateLimit, responseCost } from 'headgate/fetch'
 *
 * const actualCost = responseCost((_subject, response) => Number(response.headers.get('x-tokens') ?? 500))
 * const limit = rateLimit({ limit: 30_000, window: '1m', cost: 500, actualCost })
 * export const GET = (request: Request) => limit.handle(request, {}, () => new Response('hello'))
 * ```
 * @function
 */
export const responseCost: MakeResponseCost<FetchTypes> = httpResponseCost

/**
 * Creates limits to try beside those in force, for the option `candidate`. They deny no request, and
 * `limiter.candidateReport()` says what they would have done. A limit without `key`, `cost` or `skip`
 * inherits it from the limit in force with the same name. If there is none, it inherits it from the first
 * limit.
 *
 * @example
 * ```ts
 * import { candidateLimits, rateLimit } from 'headgate/fetch'
 *
 * const candidate = candidateLimits({ limit: 500, window: '1h' })
 * const limit = rateLimit({ limit: 1000, window: '1h', candidate })
 * export const GET = (request: Request) => limit.handle(request, {}, () => new Response('hello'))
 * ```
 * @function
 */
export const candidateLimits: MakeCandidateLimits<FetchTypes> = limiterCandidateLimits
