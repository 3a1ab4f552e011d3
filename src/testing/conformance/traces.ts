import * as fc from 'fast-check'
import { ban } from '../../policies/ban.js'
import { consecutive } from '../../policies/consecutive.js'
import { fixedWindow } from '../../policies/fixed-window.js'
import { type Policy, signatureOf } from '../../policies/policy.js'
import { slidingWindow } from '../../policies/sliding-window.js'
import { tokenBucket } from '../../policies/token-bucket.js'
import type { Refund } from '../../stores/operation.js'
import { expectEqual } from '../assertions.js'
import type { TestCase } from '../test-case.js'
import { ModelStore } from './model.js'
import { chargeAll, chargeOne, figures, forgetAll, type Parts, part, refundAll } from './store-calls.js'
import { type ConformanceSetup, type StoreUnderTest, withStore } from './store-under-test.js'

const SAMPLES: readonly Policy[] = [
  tokenBucket({ capacity: 5, refill: 1, every: '1s' }),
  tokenBucket({ capacity: 3, refill: 7, every: '1s' }),
  slidingWindow({ limit: 4, window: 1000, slices: 4 }),
  slidingWindow({ limit: 6, window: '997ms', slices: 3 }),
  fixedWindow({ limit: 3, window: '700ms' }),
  fixedWindow({ limit: 3, window: '700ms', startsAt: 'first-request' }),
  consecutive({ limit: 4 }),
  ban(slidingWindow({ limit: 4, window: 1000, slices: 4 }), { after: 2, within: 900, for: [300, 1100] }),
  ban(tokenBucket({ capacity: 3, refill: 7, every: '1s' }), {
    after: 1,
    within: '1s',
    for: [200, 500],
    onAttempt: 'restart',
  }),
]

/** The policies by names that tell what they are, in a trace that fails. */
const POLICIES = new Map(SAMPLES.map((policy) => [signatureOf(policy), policy]))

interface Taking {
  readonly owner: string
  readonly policy: string
  readonly cost: number
}

type Step =
  | { readonly charges: readonly (readonly Taking[])[] }
  | { readonly refund: number; readonly cost: number }
  | { readonly forget: readonly Taking[] }
  | { readonly advanceMs: number }

const taking: fc.Arbitrary<Taking> = fc.record({
  owner: fc.constantFrom('a', 'b', 'c'),
  policy: fc.constantFrom(...POLICIES.keys()),
  cost: fc.oneof({ weight: 6, arbitrary: fc.nat(3) }, fc.nat(8)),
})

const keyOf = ({ owner, policy }: Taking) => `${owner}:${policy}`
const policyOf = ({ policy }: Taking) => POLICIES.get(policy) as Policy
const chargeOf = (takings: readonly Taking[]): Parts =>
  takings.map((each) => part(keyOf(each), policyOf(each), each.cost))

function traces(charge: fc.Arbitrary<Taking[]>): fc.Arbitrary<Step[]> {
  const quarterMs = fc.oneof(fc.nat(400), fc.nat(12_000)).map((n) => n / 4) // up to three windows
  const step = fc.oneof<fc.WeightedArbitrary<Step>[]>(
    { weight: 6, arbitrary: fc.record({ charges: fc.array(charge, { maxLength: 5 }) }) },
    { weight: 2, arbitrary: fc.record({ refund: fc.nat(), cost: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.record({ forget: fc.array(taking, { maxLength: 3 }) }) },
    { weight: 4, arbitrary: fc.record({ advanceMs: quarterMs }) },
  )
  return fc.array(step, { maxLength: 40 })
}

type Charges = readonly (readonly [string, fc.Arbitrary<Taking[]>])[]

const CHARGES: Charges = [
  ['each key at most once', fc.uniqueArray(taking, { minLength: 1, maxLength: 4, selector: keyOf })],
  ['a key several times', fc.array(taking, { minLength: 1, maxLength: 4 })],
]

/** For a store that takes the keys of a charge one after the other, beside the other charges of a batch. */
const CHARGES_OF_ONE_KEY: Charges = [
  ['one key', fc.tuple(taking, fc.nat(2)).map(([each, others]) => Array<Taking>(1 + others).fill(each))],
]

/**
 * Random traces through the store and through a plain model: every figure is the same. A failure shows the
 * shortest trace that fails.
 */
export function traceCases(setup: ConformanceSetup): TestCase[] {
  const charges = setup.capabilities.atomicAcrossKeys ? CHARGES : CHARGES_OF_ONE_KEY
  return charges.map(([which, charge]) => ({
    name: `on random traces whose charges name ${which}, every figure equals that of a plain model`,
    run: () => {
      const property = fc.asyncProperty(traces(charge), (steps) =>
        withStore(setup, (made) => compare(made, steps)),
      )
      return fc.assert(property, { numRuns: 300 })
    },
  }))
}

async function compare({ store, advance }: StoreUnderTest, steps: readonly Step[]): Promise<void> {
  const model = new ModelStore()
  const taken: Refund[] = []
  let nowMs = (await chargeOne(store, part('clock', SAMPLES[0] as Policy, 0))).atMs
  for (const [i, step] of steps.entries()) {
    if ('advanceMs' in step) {
      await advance(step.advanceMs)
      nowMs += step.advanceMs
    } else if ('forget' in step) {
      await forgetAll(store, chargeOf(step.forget))
      for (const each of step.forget) model.forget(keyOf(each))
    } else if ('refund' in step) {
      const receipt = taken[step.refund % Math.max(1, taken.length)]
      if (receipt === undefined) continue
      const refund = { ...receipt, cost: Math.min(receipt.cost, step.cost) }
      await refundAll(store, [refund])
      model.refund(refund, nowMs)
    } else {
      const charges = step.charges.map(chargeOf)
      const expected = charges.map((charge) => model.charge(charge, nowMs))
      const verdicts = await chargeAll(store, charges)
      const shown = verdicts.map((verdict) => ({ ...verdict, parts: verdict.parts.map(figures) }))
      expectEqual(`the verdicts of step ${i + 1}`, shown, expected)
      const allowed = charges.filter((_charge, i) => expected[i]?.allowed)
      for (const each of allowed.flat()) taken.push({ ...each, type: 'refund', takenAtMs: nowMs })
    }
  }
}
