import type { Policy, Store } from 'headgate'
import { type ChargeResult, customStore } from 'headgate/store'
import { expectAsModel, operationsOf } from '../../../src/testing/conformance/as-model.js'
import { LONG_POLICIES, SHORT_KINDS } from '../../../src/testing/conformance/sample-policies.js'
import { keyedPolicies, part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import { AWKWARD_KEYS } from './awkward-keys.js'

const POLICIES = LONG_POLICIES.map(([, policyOf]) => policyOf(1000))

/**
 * Charges every key, alone and in batches, refunds, and forgets. No two keys may share a state, also as seen
 * by a store of another process.
 */
export async function expectKeptApart(
  store: Store,
  others: Store = store,
  keys: readonly string[] = AWKWARD_KEYS,
): Promise<void> {
  expect(new Set(keys).size).toBe(keys.length)
  const policyOf = (i: number) => POLICIES[i % POLICIES.length] as (typeof POLICIES)[number]
  const costOf = (i: number) => 2 + i
  const parts = keys.map((key, i) => part(key, policyOf(i), costOf(i)))
  const left = async () => {
    const looks = parts.map((each) => [{ ...each, cost: 0 }])
    const [own, foreign] = await Promise.all([chargeStore(store, looks), chargeStore(others, looks)])
    const remaining = (verdicts: readonly ChargeResult[]) =>
      verdicts.map((verdict) => verdict.parts[0]?.remaining)
    expect(remaining(own)).toEqual(remaining(foreign))
    return remaining(own)
  }
  const verdicts = await chargeStore(
    store,
    parts.map((each) => [each]),
  )
  expect(verdicts.every(({ allowed }) => allowed)).toBe(true)
  expect(await left()).toEqual(keys.map((_key, i) => 1000 - costOf(i)))
  // One by one, so that each is a single charge.
  for (const each of parts) await chargeStore(store, [[{ ...each, cost: 1 }]])
  expect(await left()).toEqual(keys.map((_key, i) => 999 - costOf(i)))
  await refundStore(
    store,
    parts.flatMap((each, i) => {
      const takenAtMs = verdicts[i]?.atMs ?? Number.NaN
      const resetAtMs = takenAtMs + (verdicts[i]?.parts[0]?.resetAfterMs ?? Number.NaN)
      return i % 2 === 0 ? [{ ...each, takenAtMs, resetAtMs }] : []
    }),
  )
  expect(await left()).toEqual(keys.map((_key, i) => 999 - (i % 2 === 0 ? 0 : costOf(i))))
  await forgetStore(
    store,
    keys.flatMap((key, i) => (i % 3 === 0 ? keyedPolicies(policyOf(i), key) : [])),
  )
  expect(await left()).toEqual(
    keys.map((_key, i) => (i % 3 === 0 ? 1000 : 999 - (i % 2 === 0 ? 0 : costOf(i)))),
  )
}

export const SAMPLES = [...LONG_POLICIES, ...SHORT_KINDS]

/**
 * Checks every figure of these policies, by default of all: states are kept to the last bit, of single
 * charges and of batches.
 */
export async function expectWholeFigures(store: Store, samples = SAMPLES): Promise<void> {
  const inBatches: Store = customStore({
    ...store,
    async apply(operations) {
      const [policy] = POLICIES as [Policy]
      const peek = { type: 'charge', parts: [part('another', policy, 0)] } as const
      const outcomes = await store.apply([...operations, peek])
      return outcomes.slice(0, -1)
    },
  })
  for (const one of [store, inBatches]) {
    for (const [, policyOf] of samples) {
      const policy = policyOf(7)
      await forgetStore(store, keyedPolicies(policy, 'key'))
      const charges = [0, 2, 1, 8, 0, 4, 1, 0].map((cost) => operationsOf(policy).charge(cost))
      await expectAsModel({ store: one, advance() {} }, charges)
    }
  }
}
