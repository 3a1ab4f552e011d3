import type { Context } from 'koa'
import * as http from './http.js'

export type { LoginGuardOptions, OnLimited, RateLimitOptions } from './adapters/koa/options.js'
export {
  type LoginGuard,
  loginGuard,
  type RateLimitMiddleware,
  rateLimit,
} from './adapters/koa/rate-limit.js'
export * from './http.js'

declare module 'koa' {
  interface ExtendableContext {
    /** The decision of the last limiter that this request passed. */
    rateLimit?: http.Decision
  }
}

/** The type of `byUser`. */
export interface MakeByUser {
  <Subject = unknown>(get?: undefined, options?: http.ByUserOptions<Subject>): http.KeyFunction<Subject>
  <Subject = Context>(
    get: (subject: Subject) => unknown,
    options?: http.ByUserOptions<NoInfer<Subject>>,
  ): http.KeyFunction<Subject>
}

/**
 * Identifies a client by the authenticated user: what `get` returns, or `ctx.state.user.id`, `.sub` or
 * `.username`, the first that exists. Without a user it is `anonymous`, by default the address. The
 * middleware must come after the one that authenticates; else all clients are anonymous.
 * @function
 */
export const byUser = http.byUser as MakeByUser
