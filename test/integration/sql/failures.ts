import { consecutive, StoreError } from 'headgate'
import type { SqlStore } from 'headgate/postgres'
import type { MaybePromise } from 'headgate/store'
import { keyedPolicies, part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import { outcomeOf } from '../redis/outcomes.js'
import type { Kind } from './database-kind.js'

const policy = consecutive({ limit: 5 })

/** Each kind of call of a store. */
export const CALLS: readonly (readonly [string, (store: SqlStore) => MaybePromise<unknown>])[] = [
  ['a single charge', (store) => chargeStore(store, [[part('a', policy)]])],
  ['charges in one batch', (store) => chargeStore(store, [[part('a', policy)], [part('b', policy)]])],
  ['a charge of two parts', (store) => chargeStore(store, [[part('a', policy), part('b', policy)]])],
  ['a peek', (store) => chargeStore(store, [[part('a', policy, 0)]])],
  ['a refund', (store) => refundStore(store, [{ ...part('a', policy), takenAtMs: Date.now() }])],
  ['forgetting', (store) => forgetStore(store, keyedPolicies(policy, 'a'))],
]

/** Those that write to the table whatever it holds. */
export const WRITES = CALLS.slice(0, 3)

/**
 * What a call failed with: it must be a `StoreError` of this store that keeps what the driver threw.
 */
export async function failureOf({ name }: Kind, call: MaybePromise<unknown>): Promise<StoreError> {
  const { error } = await outcomeOf(Promise.resolve(call).then(() => []))
  expect(error).toBeInstanceOf(StoreError)
  const { message, cause, store } = error as StoreError
  expect(store).toBe(name)
  expect(cause).toMatchObject({ message: expect.any(String) })
  expect(message).toContain((cause as Error).message)
  return error as StoreError
}
