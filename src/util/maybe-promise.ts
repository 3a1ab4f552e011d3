/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>

/** Returns whether a value is a promise. Any thenable counts, not only native promises. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as PromiseLike<T>).then === 'function'
}

/** Keeps a promise that nothing waits for from ending the process if it rejects. */
export function ignoreRejection(value: unknown): void {
  if (isPromise(value)) value.then(undefined, () => undefined)
}

/** Calls `use` with a value: in the same tick, or once the promise of it resolves. */
export function thenMaybe<T, R>(
  value: T | PromiseLike<T>,
  use: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(value) ? Promise.resolve(value).then(use) : use(value)
}

/** Calls a function, and returns a promise of what it returns or throws. A closure would cost more. */
export function promiseOf<A, B, C, T>(
  call: (a: A, b: B, c: C) => MaybePromise<T>,
  a: A,
  b: B,
  c: C,
): Promise<T> {
  try {
    return Promise.resolve(call(a, b, c))
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Calls `use` with what a call throws or rejects with, and returns its result. */
export function catchMaybe<T>(
  call: () => MaybePromise<T>,
  use: (error: unknown) => MaybePromise<T>,
): MaybePromise<T> {
  try {
    const value = call()
    return isPromise(value) ? Promise.resolve(value).catch(use) : value
  } catch (error) {
    return use(error)
  }
}

/** Takes a step for every item, even if some fail. Then throws, or rejects with, the first failure. */
export function settleAll<T>(
  items: readonly T[],
  step: (item: T) => MaybePromise<unknown>,
): MaybePromise<void> {
  const failures: unknown[] = []
  const steps = readAll(items, (item) =>
    catchMaybe(
      () => step(item),
      (error) => void failures.push(error),
    ),
  )
  return thenMaybe(steps, () => {
    if (failures.length > 0) throw failures[0]
  })
}

/**
 * Reads every item; returns a promise if one of them is a promise. Throws what a read throws: the
 * rejections of the promises made before it are handled, so that they do not end the process.
 */
export function readAll<T, R>(items: readonly T[], read: (item: T) => MaybePromise<R>): MaybePromise<R[]> {
  const values: MaybePromise<R>[] = []
  try {
    for (const item of items) values.push(read(item))
  } catch (error) {
    for (const value of values) ignoreRejection(value)
    throw error
  }
  return values.some(isPromise) ? Promise.all(values) : (values as R[])
}
