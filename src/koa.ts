import type { Context } from 'koa'
import * as http from './http.js'
import type { MakeByUser } from './keys/by-user.js'

export {
  type LoginGuard,
  type LoginGuardOptions,
  loginGuard,
  type RateLimitMiddleware,
  type RateLimitOptions,
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
 * Returns a key that identifies a client by the authenticated user: what `get` returns, or the first of
 * `ctx.state.user.id`, `.sub` and `.username` that exists. Without a user, the key `anonymous` does, by
 * default `byIp()`. Mount the limiter after the middleware that authenticates. Otherwise all
 * clients are anonymous.
 * @function
 */
export const byUser = http.byUser as MakeByUser<Context>
