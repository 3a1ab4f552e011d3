/** A value that is there at once, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>

/** Whether a value has to be waited for. Any thenable counts, not only native promises. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as PromiseLike<T>).then === 'function'
}

/** Goes on with `use(value)`: in the same tick where the value is there, else when it arrives. */
export function thenMaybe<T, R>(
  value: T | PromiseLike<T>,
  use: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(value) ? Promise.resolve(value).then(use) : use(value)
}

/**
 * Reads every item: an array where all values are there, else a promise of it. When one read throws, so does this; the
 * promises already made are then nobody's concern any more, and must not end the process as unhandled.
 */
export function readAll<T, R>(items: readonly T[], read: (item: T) => MaybePromise<R>): MaybePromise<R[]> {
  const values: MaybePromise<R>[] = []
  try {
    for (const item of items) values.push(read(item))
  } catch (error) {
    for (const value of values) if (isPromise(value)) value.then(undefined, () => undefined)
    throw error
  }
  return values.some(isPromise) ? Promise.all(values) : (values as R[])
}
