import type { MaybePromise, StoreError } from 'headgate'
import { outcomeOf } from '../redis/outcomes.js'

/** What a call failed with: it must be a `StoreError` of this store, and come soon. */
export async function failureOf(call: MaybePromise<unknown>, withinMs = 2000): Promise<StoreError> {
  const { error, tookMs } = await outcomeOf(Promise.resolve(call).then(() => []))
  expect(error).toMatchObject({ name: 'StoreError', store: 'memcached' })
  expect(tookMs).toBeLessThan(withinMs)
  return error as StoreError
}

export function failuresOf(
  calls: readonly MaybePromise<unknown>[],
  withinMs?: number,
): Promise<StoreError[]> {
  return Promise.all(calls.map((call) => failureOf(call, withinMs)))
}

/** The text of what memjs, or the network below it, threw. */
export function causeOf({ cause }: StoreError): string {
  expect(cause).toMatchObject({ message: expect.any(String) })
  return (cause as Error).message
}
