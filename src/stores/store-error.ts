import { show } from '../util/validate.js'

/** The mark of store errors, shared by all copies of this package. */
const STORE_ERROR = Symbol.for('headgate.StoreError')

/**
 * An error of a store that could not apply an operation. The store was unreachable, was too slow, or sent an
 * invalid reply. A denial is never a `StoreError`. `cause` is what the store's client threw, if anything.
 * `instanceof StoreError` also holds for errors of another copy of this package, such as one loaded by
 * `require`.
 *
 * @example
 * ```ts
 * import { createLimiter, StoreError } from 'headgate'
 *
 * const limiter = createLimiter({ limit: 10, window: '1h', key: (id: string) => id })
 * try {
 *   await limiter.forget('ada')
 * } catch (error) {
 *   if (!(error instanceof StoreError)) throw error
 *   console.error(error.message, error.cause)
 * }
 * ```
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  /** The `name` of the store that failed, such as `'memory'` or `'redis'`. */
  readonly store: string
  /**
   * Whether the store replied that it cannot apply the operation. The circuit breaker does not
   * count such an error as a failure.
   */
  readonly replied: boolean
  /**
   * Whether the operation was certainly never sent, or certainly undone as a whole, so that it is safe to
   * repeat it.
   */
  readonly unsent: boolean
  /**
   * The server that failed, such as `'10.0.0.7:6379'`. Set if the store has several servers and knows which
   * one.
   */
  readonly server: string | undefined

  /** Creates an error whose message begins with the name of the store: `redis: connection refused`. */
  constructor(
    store: string,
    message: string,
    options: { cause?: unknown; replied?: boolean; unsent?: boolean; server?: string | undefined } = {},
  ) {
    const { replied = false, unsent = false, server, ...rest } = options
    super(`${store}: ${message}`, rest)
    this.store = store
    this.replied = replied
    this.unsent = unsent
    this.server = server
  }

  static {
    Object.defineProperty(StoreError.prototype, STORE_ERROR, { value: true })
  }

  /** @internal */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this method, but not the mark alone
    if (this !== StoreError) return super[Symbol.hasInstance](value)
    return value instanceof Error && STORE_ERROR in value
  }
}

/** Returns a `StoreError` with `cause`. Returns a `StoreError` as it is. */
export function asStoreError(
  store: string,
  cause: unknown,
  {
    hint,
    ...facts
  }: { hint?: string | undefined; replied?: boolean; unsent?: boolean; server?: string | undefined } = {},
): StoreError {
  if (cause instanceof StoreError) return cause
  const message = messageOf(cause)
  return new StoreError(store, hint ? `${message.replace(/\.$/, '')}. ${hint}` : message, { cause, ...facts })
}

/** Returns whether an error says that an operation has certainly changed nothing, so that it is safe to repeat it. */
export function isUnsent(error: unknown): error is StoreError {
  return error instanceof StoreError && error.unsent
}

/** Returns the same error, with the fact that its operation has changed nothing, so that it is safe to repeat it. */
export function asUnsent(error: StoreError): StoreError {
  return error.unsent ? error : withFacts(error, { replied: error.replied, unsent: true })
}

/** Returns the same error, with the fact that its operation may have changed something. */
export function asUnknown(error: StoreError): StoreError {
  return error.replied || error.unsent ? withFacts(error, {}) : error
}

function withFacts(error: StoreError, facts: { replied?: boolean; unsent?: boolean }): StoreError {
  const { store, message, cause, server } = error
  return new StoreError(store, message.slice(`${store}: `.length), { cause, server, ...facts })
}

/** Records which server failed, if whoever created the error did not know. Returns the error. */
export function atServer(error: StoreError, server: string | undefined): StoreError {
  const named: { server: string | undefined } = error
  named.server ??= server
  return error
}

/** Returns the message of any thrown value; for an `AggregateError`, that of its first error. */
export function messageOf(thrown: unknown): string {
  const { errors }: { readonly errors?: unknown } = thrown ?? {}
  const first: unknown = Array.isArray(errors) && errors.length > 0 ? errors[0] : thrown
  const { message }: { readonly message?: unknown } = first ?? {}
  if (typeof message === 'string') return message // also of an error of another realm
  return typeof first === 'string' ? first : `${show(first)} was thrown`
}
