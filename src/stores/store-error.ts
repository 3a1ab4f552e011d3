import { show } from '../util/validate.js'

/** The mark of store errors, also of those that another copy of this package made. */
const STORE_ERROR = Symbol.for('headgate.StoreError')

/**
 * The store could not tell the outcome of a charge: it was out of reach, too slow, or answered nonsense. A
 * denial is never a `StoreError`. `cause` is what the store's client threw, where it threw something.
 * `instanceof StoreError` also holds for the errors of a second copy of this package in the process, such as
 * those of a store that was required in a limiter that was imported.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  /** The `name` of the store that failed, such as `'memory'` or `'redis'`. */
  readonly store: string
  /** Whether the store answered that it cannot decide this charge. The circuit breaker ignores that. */
  readonly answered: boolean

  constructor(store: string, message: string, options: { cause?: unknown; answered?: boolean } = {}) {
    const { answered = false, ...rest } = options
    super(`${store}: ${message}`, rest)
    this.store = store
    this.answered = answered
  }

  static {
    Object.defineProperty(StoreError.prototype, STORE_ERROR, { value: true })
  }

  /** @internal */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this method, and the mark is not theirs alone
    if (this !== StoreError) return super[Symbol.hasInstance](value)
    return value instanceof Error && STORE_ERROR in value
  }
}

/** Returns what was thrown as a `StoreError`; a `StoreError` is returned as it is. */
export function asStoreError(
  store: string,
  cause: unknown,
  { hint, answered = false }: { hint?: string | undefined; answered?: boolean } = {},
): StoreError {
  if (cause instanceof StoreError) return cause
  const message = messageOf(cause)
  return new StoreError(store, hint ? `${message}. ${hint}` : message, { cause, answered })
}

/** Returns the message of whatever was thrown; of several errors (one an address) the first. */
export function messageOf(thrown: unknown): string {
  const errors = (thrown as Partial<AggregateError> | null | undefined)?.errors
  const first: unknown = Array.isArray(errors) && errors.length > 0 ? errors[0] : thrown
  const { message } = (first ?? {}) as { message?: unknown }
  if (typeof message === 'string') return message // also of an error of another realm
  return typeof first === 'string' ? first : `${show(first)} was thrown`
}
