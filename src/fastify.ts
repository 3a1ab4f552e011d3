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
    /** The options of a limiter for this route, in place of the shared one; `false` for no limit. */
    rateLimit?: RouteRateLimitOptions | false
  }
  interface FastifyRequest {
    /** The decision of the last limiter that charged this request. */
    rateLimit?: http.Decision
  }
  interface FastifyInstance {
    /** The limiters that the plugin has created: the shared one first, then those of routes. */
    readonly rateLimiters: readonly http.Limiter<Request>[]
  }
}

/** The options of `loginGuard`. Only `field` or `account` is required. */
export type LoginGuardOptions = GuardOptions<FastifyTypes>

/**
 * Returns a key that identifies a client by the authenticated user: what `get` returns, or the first of
 * `request.user.id`, `.sub` and `.username` that exists. Without a user, the key `anonymous` does, by
 * default `byIp()`. Let the limiter run in a later hook than the authentication. Otherwise all clients are
 * anonymous.
 * @function
 */
export const byUser: MakeByUser<FastifyTypes> = httpByUser
