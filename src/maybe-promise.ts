/** A value that is there at once, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>

/** Whether a value has to be waited for. Any thenable counts, not only native promises. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as PromiseLike<T>).then === 'function'
}

/** Goes on with `use(value)`: in the same tick where the value is there, else when it arrives. */
export function whenKnown<T, R>(
  value: T | PromiseLike<T>,
  use: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(value) ? Promise.resolve(value).then(use) : use(value)
}
