import type { Context } from 'hono'
import * as http from './http.js'
import type { MakeByUser } from './keys/by-user.js'

export {
  type LoginGuard,
  type LoginGuardOptions,
  loginGuard,
  type RateLimitMiddleware,
  type RateLimitOptions,
  rateLimit,
} from './adapters/hono/rate-limit.js'
export * from './http.js'

declare module 'hono' {
  interface ContextVariableMap {
    /** The decision of the last limiter that charged this request. */
    rateLimit?: http.Decision | undefined
  }
}

/**
 * Returns a key that identifies a client by the authenticated user: what `get` returns, or the first of `id`,
 * `sub` and `username` that `c.get('user')` or `c.get('jwtPayload')` has. Without a user, the key `anonymous`
 * does, by default `byIp()`. Mount the limiter after the middleware that authenticates.
 * @function
 */
export const byUser = http.byUser as MakeByUser<Context>
