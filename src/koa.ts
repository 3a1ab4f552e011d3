/**
 * Middleware, the login guard and the overload guard for Koa.
 *
 * @module
 */

import type { Context, ExtendableContext } from 'koa'
import type { KoaTypes } from './adapters/koa/rate-limit.js'
import { responseCost as httpResponseCost, type MakeResponseCost } from './http/actual-cost/option.js'
import { requestDelay as httpRequestDelay, type MakeRequestDelay } from './http/delay/option.js'
import type { RateLimitOptions as Options } from './http/options.js'
import type * as http from './http.js'
import { byUser as httpByUser, type MakeByUser } from './keys/by-user.js'
import {
  candidateLimits as limiterCandidateLimits,
  type MakeCandidateLimits,
} from './limiter/candidate/option.js'
import type { LoginGuardOptions as GuardOptions } from './login/options.js'
import type { OverloadGuardOptions as OverloadOptions } from './overload/options.js'

export { type OverloadGuard, overloadGuard } from './adapters/koa/overload-guard.js'
export {
  type LoginGuard,
  loginGuard,
  type RateLimitMiddleware,
  rateLimit,
} from './adapters/koa/rate-limit.js'
export * from './http.js'

declare module 'koa' {
  interface ExtendableContext {
    /** The decision of the last limiter that charged this request. */
    rateLimit?: http.Decision
  }
}

/**
 * The options of `rateLimit`. All functions may be async. If one throws, the error goes to Koa's error
 * handling. `count` and `actualCost` run after the response, so their errors are emitted as `refundFailed`.
 */
export type RateLimitOptions<Ctx extends ExtendableContext = Context> = Options<KoaTypes<Ctx>>

/** The options of `loginGuard`. Only `field` or `account` is required. */
export type LoginGuardOptions<Ctx extends ExtendableContext = Context> = GuardOptions<KoaTypes<Ctx>>

/** The options of `overloadGuard`. All have defaults. */
export type OverloadGuardOptions<Ctx extends ExtendableContext = Context> = OverloadOptions<KoaTypes<Ctx>>

/**
 * Creates a key that identifies a client by the authenticated user.
 *
 * The user is what `get` returns, or the first of `ctx.state.user.id`, `.sub` and `.username` that exists.
 * Without a user, the key `anonymous` identifies the client, by default `byIp()`.
 *
 * Mount the limiter after the middleware that authenticates. Otherwise all clients are anonymous.
 *
 * @example
 * ```ts
 * import { byUser, rateLimit } from 'headgate/koa'
 * import Koa from 'koa'
 *
 * const app = new Koa()
 * app.use((ctx, next) => {
 *   ctx.state.user = { id: 'ada' } // your session
 *   return next()
 * })
 * app.use(rateLimit({ limit: 1000, window: '1h', key: byUser() }))
 * ```
 * @function
 */
export const byUser: MakeByUser<KoaTypes> = httpByUser

/**
 * Creates the delay of requests, for the option `delay`. Requests of clients that have used more than `after`
 * units of their limit wait before they reach their handler.
 *
 * @example
 * ```ts
 * import { rateLimit, requestDelay } from 'headgate/koa'
 * import Koa from 'koa'
 *
 * const app = new Koa()
 * app.use(rateLimit({ limit: 100, window: '1m', delay: requestDelay({ after: 50, by: '500ms' }) }))
 * ```
 * @function
 */
export const requestDelay: MakeRequestDelay<KoaTypes> = httpRequestDelay

/**
 * Creates the cost of requests that is known only after their response, for the option `actualCost`. Each
 * request is charged `cost`, and corrected to what this function returns: units, or units by limit name.
 *
 * @example
 * ```ts
 * import { rateLimit, responseCost } from 'headgate/koa'
 * import Koa from 'koa'
 *
 * const app = new Koa()
 * const actualCost = responseCost((ctx) => ctx.state.tokens ?? 500)
 * app.use(rateLimit({ limit: 30_000, window: '1m', cost: 500, actualCost }))
 * ```
 * @function
 */
export const responseCost: MakeResponseCost<KoaTypes> = httpResponseCost

/**
 * Creates limits to try beside those in force, for the option `candidate`. They deny no request, and
 * `limiter.candidateReport()` says what they would have done. A limit without `key`, `cost` or `skip`
 * inherits it from the limit in force with the same name. If there is none, it inherits it from the first
 * limit.
 *
 * @example
 * ```ts
 * import { candidateLimits, rateLimit } from 'headgate/koa'
 * import Koa from 'koa'
 *
 * const app = new Koa()
 * const candidate = candidateLimits({ limit: 500, window: '1h' })
 * app.use(rateLimit({ limit: 1000, window: '1h', candidate }))
 * ```
 * @function
 */
export const candidateLimits: MakeCandidateLimits<KoaTypes> = limiterCandidateLimits
