import type { FastifyRequest as Request } from 'fastify'
import type { RouteRateLimitOptions } from './adapters/fastify/plugin.js'
import type { Decision } from './limiter/decision.js'
import type { Limiter } from './limiter/limiter.js'

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

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit of this route in place of that of the plugin; `false` = none. */
    rateLimit?: RouteRateLimitOptions | false
  }
  interface FastifyRequest {
    /** The decision of the last limiter that this request passed. */
    rateLimit?: Decision
  }
  interface FastifyInstance {
    /** The limiters that the plugin has created: its own first, then those of routes. */
    readonly rateLimiters: readonly Limiter<Request>[]
  }
}
