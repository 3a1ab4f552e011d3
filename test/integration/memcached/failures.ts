import type { StoreError } from 'headgate'
import type { MaybePromise } from 'headgate/store'
import { outcomeOf } from '../redis/outcomes.js'

/** What a call failed with: it must be a `StoreError` of this store. */
export async function failureOf(call: MaybePromise<unknown>): Promise<StoreError> {
  const { error } = await outcomeOf(Promise.resolve(call).then(() => []))
  expect(error).toMatchObject({ name: 'StoreError', store: 'memcached' })
  return error as StoreError
}

export function failuresOf(calls: readonly MaybePromise<unknown>[]): Promise<StoreError[]> {
  return Promise.all(calls.map(failureOf))
}

/** The text of what memjs, or the network below it, threw. */
export function causeOf({ cause }: StoreError): string {
  expect(cause).toMatchObject({ message: expect.any(String) })
  return (cause as Error).message
}
