/**
 * The store could not tell the outcome of a charge: it was out of reach, too slow, or answered nonsense.
 * A denial is never a `StoreError`. `cause` is what the store's client threw, where it threw something.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  /** The `name` of the store that failed, such as `'memory'` or `'redis'`. */
  readonly store: string

  constructor(store: string, message: string, options?: { cause?: unknown }) {
    super(`${store}: ${message}`, options)
    this.store = store
  }
}
