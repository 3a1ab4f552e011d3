import { signatureOf } from '../../policies/policy.js'
import { tokenBucket } from '../../policies/token-bucket.js'
import type { Charge } from '../../stores/operation.js'
import { expectAtMost, expectEqual } from '../assertions.js'
import { asModel, operationsOf } from './as-model.js'
import { LONG, LONG_KINDS } from './sample-policies.js'
import {
  allowedCount,
  allowedOf,
  chargeAll,
  chargeOne,
  expectTaken,
  part,
  remainingOf,
} from './store-calls.js'
import { casesOf, casesOfEach, type StoreCase } from './store-case.js'
import type { Capabilities } from './store-under-test.js'

const bucket = (capacity: number) => tokenBucket({ capacity, refill: capacity, every: LONG })
const { charge } = operationsOf(bucket(300))

const ofBatches = () =>
  casesOf('', {
    'an empty batch has no verdicts': asModel([]),

    'a charge without parts takes nothing, is allowed, and leaves the others of its batch alone': asModel(
      [charge(), { type: 'charge', parts: [] }, charge()],
      charge(0),
    ),

    'a batch has one verdict per charge, in order': asModel(
      Array.from({ length: 200 }, (_, i) => charge(i, `key-${i}`)),
    ),

    'a batch may hold every policy, and charges of different sizes': asModel(
      LONG_KINDS.map(([, policyOf], i): Charge => {
        const policy = policyOf(5)
        const keys = Array.from({ length: i + 1 }, (_, j) => `${signatureOf(policy)}-${j}`)
        return { type: 'charge', parts: keys.map((key, j) => part(key, policy, j + 1)) }
      }),
    ),
  })

const ofEachPolicy = (atomicAcrossKeys: boolean) =>
  casesOfEach(LONG_KINDS, 'in a batch, a %s', (policyOf) => ({
    'lets two charges of one key see each other, in order': asModel(
      [3, 3, 0, 2, 1].map((cost) => operationsOf(policyOf(5)).charge(cost)),
    ),

    'shows no effect of a denied charge to those that follow': async ({ store }) => {
      const policy = policyOf(2)
      const verdicts = await chargeAll(store, [
        [part('a', policy, 2)],
        [part('b', policy, 2), part('a', policy, 1)],
        [part('b', policy, 2)],
      ])
      const last = verdicts[2]?.allowed // where b comes before a, it may see units that the denied charge refunds
      expectEqual('allowed', allowedOf(verdicts), [true, false, atomicAcrossKeys || last])
      expectEqual('remaining of the first key', await remainingOf(store, policy, ['a']), [0])
      await expectTaken(store, policy, ['b'], last ? 2 : 0)
    },

    'allows exactly its limit of 1,000 charges of one key in one batch': asModel(
      Array<Charge>(1000).fill(operationsOf(policyOf(100)).charge(1, 'hot')),
    ),

    'allows exactly its limit of 1,000 concurrent calls for one key': async ({ store }) => {
      const policy = policyOf(100)
      const calls = Array.from({ length: 1000 }, () => chargeOne(store, part('hot', policy)))
      const verdicts = await Promise.all(calls)
      expectEqual('the number of verdicts', verdicts.length, 1000)
      expectEqual('allowed with a limit of 100', allowedCount(verdicts), 100)
      const left = verdicts.filter(({ allowed }) => allowed).map(({ parts }) => Number(parts[0]?.remaining))
      expectEqual(
        'remaining of the allowed ones: each number below the limit once',
        left.sort((a, b) => b - a),
        Array.from({ length: 100 }, (_, i) => 99 - i),
      )
    },
  }))

const ofCrossingCharges = (atomicAcrossKeys: boolean) => {
  const name = 'charges that name the same keys in opposite order, all at once,'
  const outcome = atomicAcrossKeys ? 'are exact' : 'take exactly what is admitted'
  return casesOf(name, {
    [outcome]: async ({ store }) => {
      const policy = bucket(150)
      const charges = Array.from({ length: 500 }, (_, i) => {
        const charge = [part('a', policy), part('b', policy)]
        return chargeOne(store, ...(i % 2 === 0 ? charge : charge.toReversed()))
      })
      const admitted = allowedCount(await Promise.all(charges))
      if (atomicAcrossKeys) expectEqual('allowed of 500 with a limit of 150', admitted, 150)
      else expectAtMost('allowed of 500 with a limit of 150', admitted, 150)
      await expectTaken(store, policy, ['a', 'b'], admitted)
    },
  })
}

/** Batches: order, count, and exactness when many charges come at once. */
export function batchCases({ atomicAcrossKeys }: Capabilities): StoreCase[] {
  return [...ofBatches(), ...ofEachPolicy(atomicAcrossKeys), ...ofCrossingCharges(atomicAcrossKeys)]
}
