/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>

/** Returns whether a value is a promise. Any thenable counts, not only native promises. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as PromiseLike<T>).then === 'function'
}

/** Calls `use` with a value: in the same tick, or once the promise of it resolves. */
export function thenMaybe<T, R>(
  value: T | PromiseLike<T>,
  use: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(value) ? Promise.resolve(value).then(use) : use(value)
}

/**
 * Returns what `start` returns, or a promise of what it passes to `settle` later if it returns `undefined`.
 * If either is an `Error`, throws it, or rejects with it.
 */
export function fromCallback<T>(
  start: (settle: (outcome: T | Error) => void) => T | Error | undefined,
): MaybePromise<T> {
  let settle: (outcome: T | Error) => void
  const known = start((outcome) => settle(outcome))
  if (known instanceof Error) throw known
  if (known !== undefined) return known
  return new Promise((resolve, reject) => {
    settle = (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome))
  })
}

/**
 * Reads every item; returns a promise where one of them is a promise. Throws what a read throws: the
 * rejections of the promises made before it are handled, so that they do not end the process.
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
