import type { FetchSubject } from './adapters/fetch/options.js'
import * as http from './http.js'

export type { FetchInfo, FetchSubject, RateLimitOptions } from './adapters/fetch/options.js'
export { type RateLimit, rateLimit } from './adapters/fetch/rate-limit.js'
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
 * Identifies a client by the authenticated user: what `get` returns, or `user.id`, `.sub` or `.username` of
 * what the platform knows, the first that exists. Without a user it is `anonymous`, by default the address.
 * @function
 */
export const byUser = http.byUser as MakeByUser
