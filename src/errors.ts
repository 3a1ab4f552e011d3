/**
 * The store could not tell the outcome of a charge: it was out of reach, too slow, or answered nonsense.
 * A denial is never a `StoreError`. `cause` is what the store's client threw, where it threw something.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  /** The `name` of the store that failed, such as `'memory'` or `'redis'`. */
  readonly store: string
  /** Whether the store answered that it cannot do this one: it may do others, such as denials when it is full, and goes on being asked. */
  readonly answered: boolean

  constructor(store: string, message: string, options: { cause?: unknown; answered?: boolean } = {}) {
    const { answered = false, ...rest } = options
    super(`${store}: ${message}`, rest)
    this.store = store
    this.answered = answered
  }
}
