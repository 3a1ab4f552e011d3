/** The status of the response if the application does not handle the error. */
const SERVICE_UNAVAILABLE = 503

/**
 * The rejection of `guard.run` for a call that is denied, because there is no place for it. The call has not
 * begun. It has what Express, Fastify and Koa read of an error: unless you handle it, they respond with 503 and
 * `Retry-After`.
 *
 * @example
 * ```ts
 * import { OverloadError, overloadGuard } from 'headgate'
 *
 * const database = overloadGuard({ name: 'database' })
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
  /** 503, as `http-errors` has it. */
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
