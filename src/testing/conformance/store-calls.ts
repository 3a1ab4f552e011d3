import { request } from '../../pipe/pipe.js'
import { pipeTo } from '../../pipe/store-end.js'
import { InvalidResultError, validateOutcome } from '../../pipe/validated.js'
import { inspect } from '../../platform.js'
import type { Policy } from '../../policies/policy.js'
import {
  type Charge,
  type ChargeResult,
  isResultOf,
  type KeyedPolicy,
  type Operation,
  type Part,
  type PartResult,
  type Refund,
  type ResultOf,
} from '../../stores/operation.js'
import { refundsOf } from '../../stores/shared/refunds.js'
import type { Store } from '../../stores/store.js'
import { StoreError } from '../../stores/store-error.js'
import { expectEqual } from '../assertions.js'

export type Parts = readonly Part[]

/** Keys of one policy, as a store forgets them. */
export function keyedPolicies(policy: Policy, ...keys: readonly string[]): KeyedPolicy[] {
  return keys.map((key) => ({ key, policy }))
}

export function part(key: string, policy: Policy, cost = 1): Part {
  return { key, policy, cost }
}

/** Applies a batch. There is one valid result for each operation. */
export async function applyAll<O extends Operation>(
  store: Store,
  operations: readonly O[],
): Promise<readonly ResultOf<O>[]> {
  const outcomes = await tryAll(store, operations)
  return outcomes.map((outcome) => {
    if (outcome instanceof StoreError) throw outcome
    return outcome
  })
}

/** Applies a batch. There is one valid result for each operation, or the error with which it alone failed. */
export async function tryAll<O extends Operation>(
  store: Store,
  operations: readonly O[],
): Promise<readonly (ResultOf<O> | StoreError)[]> {
  const outcomes: unknown = await store.apply(operations)
  const list: readonly unknown[] = Array.isArray(outcomes) ? outcomes : []
  const count = Array.isArray(outcomes) ? list.length : inspect(outcomes)
  expectEqual(`apply() returns an array of one outcome per operation`, count, operations.length)
  return operations.map((operation, i) => {
    const valid = validateOutcome(store, operation, list[i])
    if (isResultOf(operation, valid)) return valid
    if (valid instanceof InvalidResultError) throw explain(operation, valid)
    return valid as StoreError
  })
}

/** Returns an error that shows a result that makes no sense, and what would. */
function explain({ type }: Operation, error: unknown): unknown {
  if (!(error instanceof InvalidResultError)) return error
  const shape = '{ type, allowed, atMs, parts } for a charge, with a finite atMs and the figures of each part'
  const got = inspect(error.cause)
  return new Error(`apply() must return results such as ${shape}. For a ${type}, it returned:\n${got}`, {
    cause: error,
  })
}

/** Applies one operation as a limiter does: those of concurrent calls go to the store in batches. */
export async function applyOne<O extends Operation>(store: Store, operation: O): Promise<ResultOf<O>> {
  try {
    return await request(pipeTo(store), operation)
  } catch (error) {
    throw explain(operation, error)
  }
}

export function chargeAll(store: Store, charges: readonly Parts[]): Promise<readonly ChargeResult[]> {
  return applyAll<Charge>(
    store,
    charges.map((parts) => ({ type: 'charge', parts })),
  )
}

export function chargeOne(store: Store, ...parts: Part[]): Promise<ChargeResult> {
  return applyOne<Charge>(store, { type: 'charge', parts })
}

export async function forgetAll(store: Store, keys: readonly KeyedPolicy[]): Promise<void> {
  await applyAll(
    store,
    keys.map(({ key, policy }) => ({ type: 'forget', key, policy }) as const),
  )
}

/** Takes units. Returns their refund, as a limiter makes it from a decision. */
export async function receiptOf(store: Store, key: string, policy: Policy, cost: number): Promise<Refund> {
  const wanted = part(key, policy, cost)
  const verdict = await chargeOne(store, wanted)
  expectEqual(`a charge of ${cost} of a fresh ${policy.name} is allowed`, verdict.allowed, true)
  return onlyOf(refundsOf([wanted], verdict))
}

function onlyOf<T>([item]: readonly T[]): T {
  if (item === undefined)
    throw new Error('a charge of one part must return the figures of one part, got none')
  return item
}

/** How much is left of each key, read with cost 0. */
export async function remainingOf(
  store: Store,
  policy: Policy,
  keys: readonly string[],
): Promise<(number | undefined)[]> {
  const verdicts = await chargeAll(
    store,
    keys.map((key) => [part(key, policy, 0)]),
  )
  return verdicts.map((verdict) => verdict.parts[0]?.remaining)
}

/** The figures of a step, without the state to keep. */
export function figures({
  allowed,
  remaining,
  resetAfterMs,
  retryAfterMs,
  moreAfterMs,
  debt,
}: PartResult): PartResult {
  const always = { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs }
  return debt === undefined ? always : { ...always, debt }
}

/**
 * Checks that exactly `taken` units of each key are taken, and that further charges of all of them, one by
 * one, reach the limit and no further.
 */
export async function expectTaken(
  store: Store,
  policy: Policy,
  keys: readonly string[],
  taken: number,
): Promise<void> {
  const left = policy.limit - taken
  expectEqual(
    `${taken} units of each of ${keys} are taken`,
    await remainingOf(store, policy, keys),
    keys.map(() => left),
  )
  const charge = keys.map((key) => part(key, policy))
  for (let i = taken; i < policy.limit; i++)
    expectEqual(
      `unit ${i + 1} of ${policy.limit} is allowed`,
      (await chargeOne(store, ...charge)).allowed,
      true,
    )
  expectEqual('a unit above the limit is allowed', (await chargeOne(store, ...charge)).allowed, false)
  expectEqual(
    'remaining at the limit',
    await remainingOf(store, policy, keys),
    keys.map(() => 0),
  )
}

export function allowedCount(verdicts: readonly ChargeResult[]): number {
  return verdicts.filter(({ allowed }) => allowed).length
}

export function allowedOf(verdicts: readonly ChargeResult[]): boolean[] {
  return verdicts.map(({ allowed }) => allowed)
}
