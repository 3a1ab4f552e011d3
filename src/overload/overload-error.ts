/** Thrown if a call is denied, because its guard has no place for it. */
export class OverloadError extends Error {
  override readonly name = 'OverloadError'
  /** When to try again: a random time, longer if most calls are denied. */
  readonly retryAfterMs: number

  constructor(retryAfterMs: number) {
    super(`overloadGuard: too many calls at once. Try again in ${retryAfterMs} ms.`)
    this.retryAfterMs = retryAfterMs
  }
}
