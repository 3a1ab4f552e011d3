/**
 * A plugin, a hook, the login guard and the overload guard for Fastify.
 *
 * @module
 */

import type { FastifyRequest as Request } from 'fastify'
import type { FastifyTypes } from './adapters/fastify/hook.js'
import type { RouteRateLimitOptions } from './adapters/fastify/plugin.js'
import { responseCost as httpResponseCost, type MakeResponseCost } from './http/actual-cost/option.js'
import { requestDelay as httpRequestDelay, type MakeRequestDelay } from './http/delay/option.js'
import type * as http from './http.js'
import { byUser as httpByUser, type MakeByUser } from './keys/by-user.js'
import {
  candidateLimits as limiterCandidateLimits,
  type MakeCandidateLimits,
} from './limiter/candidate/option.js'
import type { LoginGuardOptions as GuardOptions } from './login/options.js'
import type { OverloadGuardOptions as OverloadOptions } from './overload/options.js'

export {
  type RateLimitHook,
  type RateLimitHookOptions,
  rateLimitHook,
} from './adapters/fastify/hook.js'
export { type LoginGuard, loginGuard } from './adapters/fastify/login-guard.js'
export { type OverloadGuard, overloadGuard } from './adapters/fastify/overload-guard.js'
export {
  type RateLimitPluginOptions,
  type RouteRateLimitOptions,
  rateLimit,
  rateLimit as default,
} from './adapters/fastify/plugin.js'
export * from './http.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The options of this route's own limiter, in place of the shared one, or `false` for no limit. */
    rateLimit?: RouteRateLimitOptions | false
  }
  interface FastifyRequest {
    /** The decision of the last limiter that charged this request. */
    rateLimit?: http.Decision
  }
  interface FastifyInstance {
    /** The limiters that the plugin has created: the shared one first, then those of routes. */
    readonly rateLimiters: readonly http.MiddlewareLimiter<Request>[]
  }
}

/** The options of `loginGuard`. Only `field` or `account` is required. */
export type LoginGuardOptions = GuardOptions<FastifyTypes>

/** The options of `overloadGuard`. All have defaults. */
export type OverloadGuardOptions = OverloadOptions<FastifyTypes>

/**
 * Creates a key that identifies a client by the authenticated user.
 *
 * The user is what `get` returns, or the first of `request.user.id`, `.sub` and `.username` that exists.
 * Without a user, the key `anonymous` identifies the client, by default `byIp()`.
 *
 * Run the limiter in a later hook than the authentication. Otherwise all clients are anonymous.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { byUser, rateLimit } from 'headgate/fastify'
 *
 * const app = fastify()
 * const options = { limit: 1000, window: '1h', key: byUser(), hook: 'preHandler' } as const
 * await app.register(rateLimit, options)
 * ```
 * @function
 */
export const byUser: MakeByUser<FastifyTypes> = httpByUser

/**
 * Creates limits to try beside those in force, for the option `candidate`. They deny no request, and
 * `limiter.candidateReport()` says what they would have done. A limit without `key`, `cost` or `skip`
 * inherits it from the limit in force with the same name. If there is none, it inherits it from the first
 * limit.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { candidateLimits, rateLimit } from 'headgate/fastify'
 *
 * const app = fastify()
 * const candidate = candidateLimits({ limit: 500, window: '1h' })
 * await app.register(rateLimit, { limit: 1000, window: '1h', candidate })
 * ```
 * @function
 */
export const candidateLimits: MakeCandidateLimits<FastifyTypes> = limiterCandidateLimits

/**
 * Creates the delay of requests, for the option `delay`. Requests of clients that have used more than `after`
 * units of their limit wait before they reach their handler.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { rateLimit, requestDelay } from 'headgate/fastify'
 *
 * const app = fastify()
 * const delay = requestDelay({ after: 50, by: '500ms' })
 * await app.register(rateLimit, { limit: 100, window: '1m', delay })
 * ```
 * @function
 */
export const requestDelay: MakeRequestDelay<FastifyTypes> = httpRequestDelay

/**
 * Creates the cost of requests that is known only after their response, for the option `actualCost`. Each
 * request is charged `cost`, and corrected to what this function returns: units, or units by limit name.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { rateLimit, responseCost } from 'headgate/fastify'
 *
 * const app = fastify()
 * const actualCost = responseCost((_request, reply) => Number(reply.getHeader('x-tokens') ?? 500))
 * await app.register(rateLimit, { limit: 30_000, window: '1m', cost: 500, actualCost })
 * ```
 * @function
 */
export const responseCost: MakeResponseCost<FastifyTypes> = httpResponseCost
