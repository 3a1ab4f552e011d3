/** The status of the response if the application does not handle the error. */
const SERVICE_UNAVAILABLE = 503

/**
 * What `guard.run` rejects with if there is no place for a call. The call has not begun. Unless you handle the
 * error, Express, Fastify and Koa respond with 503 and `Retry-After`, which they read from its properties.
 *
 * @example
 * ```ts
 * import { OverloadError, overloadGuard } from 'headgate'
 *
 * const database = overloadGuard({ name: 'database', maxLimit: 20 }) // twice your connections
 * const query = async () => ['a row'] // your query
 * const rows = await database.run(query).catch((error) => {
 *   if (error instanceof OverloadError) return []
 *   throw error
 * })
 * console.log(rows)
 * ```
 */
export class OverloadError extends Error {
  override readonly name = 'OverloadError'
  /** When to try again: a random time, longer if most calls are denied. */
  readonly retryAfterMs: number
  /** 503. `http-errors` names it so. */
  readonly status = SERVICE_UNAVAILABLE
  /** The same as `status`. */
  readonly statusCode = SERVICE_UNAVAILABLE
  /** The headers of the response: `Retry-After`, in whole seconds. */
  readonly headers: { readonly 'Retry-After': string }

  constructor(retryAfterMs: number) {
    super(`overloadGuard: too many calls at once. Try again in ${retryAfterMs} ms.`)
    this.retryAfterMs = retryAfterMs
    this.headers = { 'Retry-After': `${Math.ceil(retryAfterMs / 1000)}` }
  }
}
