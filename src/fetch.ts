import type { FetchSubject } from './adapters/fetch/options.js'
import * as http from './http.js'

export type { RateLimit } from './adapters/fetch/limit.js'
export { type LoginGuard, type LoginGuardOptions, loginGuard } from './adapters/fetch/login-guard.js'
export type {
  FetchInfo,
  FetchRequestOptions,
  FetchSubject,
  OnLimited,
  RateLimitOptions,
} from './adapters/fetch/options.js'
export { rateLimit } from './adapters/fetch/rate-limit.js'
export * from './http.js'

/** The type of `byUser`. */
export interface MakeByUser {
  <Subject = unknown>(get?: undefined, options?: http.ByUserOptions<Subject>): http.KeyFunction<Subject>
  <Subject = FetchSubject>(
    get: (subject: Subject) => unknown,
    options?: http.ByUserOptions<NoInfer<Subject>>,
  ): http.KeyFunction<Subject>
}

/**
 * Returns a key that identifies a client by the authenticated user: what `get` returns, or the first of
 * `id`, `sub` and `username` that `info.user` has. Without a user, the key `anonymous` does, by default
 * `byIp()`.
 * @function
 */
export const byUser = http.byUser as MakeByUser
