import type { FetchSubject } from './adapters/fetch/options.js'
import * as http from './http.js'
import type { MakeByUser } from './keys/by-user.js'

export type { RateLimit } from './adapters/fetch/limit.js'
export { type LoginGuard, type LoginGuardOptions, loginGuard } from './adapters/fetch/login-guard.js'
export type {
  FetchInfo,
  FetchSubject,
  RateLimitOptions,
} from './adapters/fetch/options.js'
export { rateLimit } from './adapters/fetch/rate-limit.js'
export * from './http.js'

/**
 * Returns a key that identifies a client by the authenticated user: what `get` returns, or the first of
 * `id`, `sub` and `username` that `info.user` has. Without a user, the key `anonymous` does, by default
 * `byIp()`.
 * @function
 */
export const byUser = http.byUser as MakeByUser<FetchSubject>
