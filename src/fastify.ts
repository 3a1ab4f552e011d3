import type { FastifyRequest as Request } from 'fastify'
import type { RouteRateLimitOptions } from './adapters/fastify/plugin.js'
import * as http from './http.js'

export {
  type OnLimited,
  type RateLimitHook,
  type RateLimitHookOptions,
  rateLimitHook,
} from './adapters/fastify/hook.js'
export { type LoginGuard, type LoginGuardOptions, loginGuard } from './adapters/fastify/login-guard.js'
export {
  type RateLimitPluginOptions,
  type RouteRateLimitOptions,
  rateLimit,
} from './adapters/fastify/plugin.js'
export * from './http.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit of this route in place of that of the plugin; `false` = none. */
    rateLimit?: RouteRateLimitOptions | false
  }
  interface FastifyRequest {
    /** The decision of the last limiter that this request passed. */
    rateLimit?: http.Decision
  }
  interface FastifyInstance {
    /** The limiters that the plugin has created: its own first, then those of routes. */
    readonly rateLimiters: readonly http.Limiter<Request>[]
  }
}

/** The type of `byUser`. */
export interface MakeByUser {
  <Subject = unknown>(get?: undefined, options?: http.ByUserOptions<Subject>): http.KeyFunction<Subject>
  <Subject = Request>(
    get: (subject: Subject) => unknown,
    options?: http.ByUserOptions<NoInfer<Subject>>,
  ): http.KeyFunction<Subject>
}

/**
 * Identifies a client by the authenticated user: what `get` returns, or `request.user.id`, `.sub` or
 * `.username`, the first that exists. Without a user it is `anonymous`, by default the address. The limiter
 * must run in a later hook than what authenticates; else all clients are anonymous.
 * @function
 */
export const byUser = http.byUser as MakeByUser
