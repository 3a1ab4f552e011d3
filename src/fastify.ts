/**
 * A plugin, a hook and the login guard for Fastify.
 *
 * @module
 */

import type { FastifyRequest as Request } from 'fastify'
import type { FastifyTypes } from './adapters/fastify/hook.js'
import type { RouteRateLimitOptions } from './adapters/fastify/plugin.js'
import type * as http from './http.js'
import { byUser as httpByUser, type MakeByUser } from './keys/by-user.js'
import type { LoginGuardOptions as GuardOptions } from './login/options.js'

export {
  type RateLimitHook,
  type RateLimitHookOptions,
  rateLimitHook,
} from './adapters/fastify/hook.js'
export { type LoginGuard, loginGuard } from './adapters/fastify/login-guard.js'
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
