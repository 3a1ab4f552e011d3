import type { MemoryStore, Policy, Store } from 'headgate'
import type {
  ChargeResult,
  KeyedPolicy,
  MaybePromise,
  Operation,
  PartResult,
  Refund,
  ResultOf,
} from 'headgate/store'
import { request } from '../../src/pipe/pipe.js'
import { pipeTo } from '../../src/pipe/store-end.js'
import { checkOperations } from '../../src/stores/shared/run-operations.js'
import { chargeOne, type Parts, part } from '../../src/testing/conformance/store-calls.js'
import { thenMaybe } from '../../src/util/maybe-promise.js'

/** A refund without its tag. */
export type TakenUnits = Omit<Refund, 'type'>

/** At once for a store in memory, a promise for others. */
type Returned<S extends Store, T> = S extends MemoryStore ? T : MaybePromise<T>

/**
 * Applies operations as limiters do: to a store that batches, each for itself, together with those of other
 * callers. Throws or rejects with the first error.
 */
export function applyTo<S extends Store, O extends Operation>(
  store: S,
  operations: readonly O[],
): Returned<S, readonly ResultOf<O>[]> {
  const returned = store.batching ? applyEach(store, operations) : applyTogether(store, operations)
  return returned as Returned<S, readonly ResultOf<O>[]>
}

async function applyEach(store: Store, operations: readonly Operation[]) {
  checkOperations(`${store.name}Store`, operations)
  const pipe = pipeTo(store)
  return Promise.all(operations.map((operation) => request(pipe, operation)))
}

function applyTogether(store: Store, operations: readonly Operation[]) {
  return thenMaybe(store.apply(operations), (outcomes) => {
    for (const outcome of outcomes) if (outcome instanceof Error) throw outcome
    return outcomes
  })
}

export function chargeStore<S extends Store>(
  store: S,
  charges: readonly Parts[],
): Returned<S, readonly ChargeResult[]> {
  return applyTo(
    store,
    charges.map((parts) => ({ type: 'charge', parts }) as const),
  )
}

export function refundStore<S extends Store>(store: S, receipts: readonly TakenUnits[]): Returned<S, void> {
  const refunds = receipts.map((receipt) => ({ ...receipt, type: 'refund' }) as const)
  return thenMaybe(applyTo(store, refunds) as MaybePromise<unknown>, () => undefined) as Returned<S, void>
}

/** Returns the new `resetAtMs` of the units. */
export function renewStore<S extends Store>(store: S, receipt: TakenUnits): Returned<S, number> {
  const renewed = applyTo(store, [{ ...receipt, type: 'renew' } as const]) as MaybePromise<
    readonly { resetAtMs: number }[]
  >
  return thenMaybe(renewed, ([result]) => result?.resetAtMs) as Returned<S, number>
}

export function forgetStore<S extends Store>(store: S, keys: readonly KeyedPolicy[]): Returned<S, void> {
  const forgets = keys.map(({ key, policy }) => ({ type: 'forget', key, policy }) as const)
  return thenMaybe(applyTo(store, forgets) as MaybePromise<unknown>, () => undefined) as Returned<S, void>
}

/** Takes units of one key. Returns the figures of the only part. */
export async function takeOne(store: Store, key: string, policy: Policy, cost = 1): Promise<PartResult> {
  const { parts } = await chargeOne(store, part(key, policy, cost))
  const [figures] = parts
  if (figures === undefined)
    throw new Error('a charge of one part must return the figures of one part, got none')
  return figures
}
