/**
 * The rejection of `guard.run` for a call that is denied, because there is no place for it. The call has not
 * begun.
 *
 * @example
 * ```ts
 * import { OverloadError, overloadGuard } from 'headgate'
 *
 * const database = overloadGuard({ name: 'database' })
 * const query = async () => ['a row'] // your query
 * const rows = await database.run(query).catch((error) => {
 *   if (error instanceof OverloadError) return [] // or a 503 with error.retryAfterMs
 *   throw error
 * })
 * console.log(rows)
 * ```
 */
export class OverloadError extends Error {
  override readonly name = 'OverloadError'
  /** When to try again: a random time, longer if most calls are denied. */
  readonly retryAfterMs: number

  constructor(retryAfterMs: number) {
    super(`overloadGuard: too many calls at once. Try again in ${retryAfterMs} ms.`)
    this.retryAfterMs = retryAfterMs
  }
}
