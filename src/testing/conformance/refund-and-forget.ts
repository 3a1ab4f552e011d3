import type { Refund } from '../../stores/operation.js'
import { expectEqual, expectMatch } from '../assertions.js'
import { LONG_KINDS } from './sample-policies.js'
import {
  chargeAll,
  figures,
  forgetAll,
  freshFigures,
  keyedPolicies,
  part,
  receiptOf,
  refundAll,
  remainingOf,
  takeOne,
} from './store-calls.js'
import { type Bodies, casesOfEach } from './store-case.js'

const LONG_AGO_MS = 3 * 1000 * 24 * 3600 * 1000 // three of the long windows

/**
 * A refund may leave out when its key would be fresh again. For units taken from a fresh key that makes no
 * difference.
 */
const FORMS: readonly (readonly [string, (receipt: Refund) => Refund])[] = [
  ['with resetAtMs', (receipt) => receipt],
  ['without resetAtMs', ({ resetAtMs: _, ...rest }) => rest],
]

const inEachForm = FORMS.flatMap(([form, formOf]) =>
  casesOfEach(LONG_KINDS, `a refund to a %s ${form}`, (policyOf) => {
    const ofUnits = (cost: number): Bodies => ({
      [`of ${cost} units after 4 were taken leaves a fresh state, and no more`]: async ({ store }) => {
        const policy = policyOf(5)
        const receipt = await receiptOf(store, 'key', policy, 4)
        await refundAll(store, [{ ...formOf(receipt), cost }])
        const fresh = { allowed: true, remaining: 5, resetAfterMs: 0 }
        expectMatch('a peek after the refund', await takeOne(store, 'key', policy, 0), fresh)
        const above = await takeOne(store, 'key', policy, 6)
        expectMatch('a charge above the limit', above, { allowed: false })
        const whole = await takeOne(store, 'key', policy, 5)
        expectMatch('a charge of the whole limit', whole, { allowed: true, remaining: 0 })
      },
    })

    return {
      'returns the units that were taken': async ({ store }) => {
        const policy = policyOf(5)
        const receipt = await receiptOf(store, 'key', policy, 4)
        await refundAll(store, [{ ...formOf(receipt), cost: 3 }])
        expectEqual('remaining after the refund', await remainingOf(store, policy, ['key']), [4])
        const rest = await takeOne(store, 'key', policy, 4)
        expectMatch('a charge of all that is left', rest, { allowed: true, remaining: 0 })
        expectMatch('one unit more', await takeOne(store, 'key', policy, 1), { allowed: false })
      },
      ...ofUnits(4),
      ...ofUnits(5),
      ...ofUnits(1000),
    }
  }),
)

const refunds = casesOfEach(LONG_KINDS, 'a refund to a %s', (policyOf, name) => {
  const late: Bodies = {
    'changes nothing if the units were taken windows ago': async ({ store }) => {
      const policy = policyOf(5)
      const receipt = await receiptOf(store, 'key', policy, 4)
      const takenAtMs = receipt.takenAtMs - LONG_AGO_MS
      const resetAtMs = (receipt.resetAtMs as number) - LONG_AGO_MS
      await refundAll(store, [{ ...receipt, cost: 3, takenAtMs, resetAtMs }])
      expectEqual('remaining after the refund', await remainingOf(store, policy, ['key']), [1])
    },
  }

  const restored: Bodies = {
    'changes nothing if the units were restored by resetAtMs': async ({ store }) => {
      const policy = policyOf(5)
      const receipt = await receiptOf(store, 'key', policy, 4)
      await refundAll(store, [{ ...receipt, cost: 3, resetAtMs: receipt.takenAtMs }])
      expectEqual('remaining after the refund', await remainingOf(store, policy, ['key']), [1])
    },
  }

  return {
    'frees a client at its limit': async ({ store }) => {
      const policy = policyOf(2)
      const receipt = await receiptOf(store, 'key', policy, 2)
      const allowed = async () => (await takeOne(store, 'key', policy)).allowed
      expectEqual('a charge at the limit is allowed', await allowed(), false)
      await refundAll(store, [{ ...receipt, cost: 1 }])
      expectEqual('a charge after a refund of 1 is allowed', await allowed(), true)
      expectEqual('the next charge is allowed', await allowed(), false)
    },

    'does not fail for an unknown key, and creates no credit': async ({ store }) => {
      const policy = policyOf(5)
      const receipt = await receiptOf(store, 'known', policy, 1)
      await refundAll(store, [{ ...receipt, key: 'unknown', cost: 3 }, receipt])
      expectEqual('remaining', await remainingOf(store, policy, ['unknown', 'known']), [5, 5])
      const above = await takeOne(store, 'unknown', policy, 6)
      expectEqual('a charge above the limit is allowed', above.allowed, false)
    },

    'may name one key several times': async ({ store }) => {
      const policy = policyOf(5)
      const one = { ...(await receiptOf(store, 'key', policy, 5)), cost: 1 }
      await refundAll(store, [one, one, one])
      expectEqual('remaining after three refunds of 1', await remainingOf(store, policy, ['key']), [3])
    },

    'changes nothing if it names no key or cost 0': async ({ store }) => {
      const policy = policyOf(5)
      const receipt = await receiptOf(store, 'key', policy, 4)
      await refundAll(store, [])
      await refundAll(store, [{ ...receipt, cost: 0 }])
      expectEqual('remaining', await remainingOf(store, policy, ['key']), [1])
    },

    ...(name !== 'consecutive' && late),
    ...(name === 'tokenBucket' && restored),
  }
})

const forgets = casesOfEach(LONG_KINDS, 'a forget, with a %s,', (policyOf) => ({
  'makes a key fresh, and leaves the others alone': async ({ store }) => {
    const policy = policyOf(5)
    await chargeAll(
      store,
      ['a', 'b', 'c'].map((key) => [part(key, policy, 5)]),
    )
    await forgetAll(store, keyedPolicies(policy, 'a', 'c'))
    const left = await remainingOf(store, policy, ['a', 'b', 'c'])
    expectEqual('remaining after the first and the last were forgotten', left, [5, 0, 5])
    expectEqual('a peek', figures(await takeOne(store, 'a', policy, 0)), freshFigures(5))
  },

  'does not fail for no key, an unknown key, or a key named twice': async ({ store }) => {
    const policy = policyOf(5)
    await takeOne(store, 'key', policy, 5)
    await forgetAll(store, [])
    await forgetAll(store, keyedPolicies(policy, 'unknown', 'other', 'other'))
    expectEqual('remaining of another key', await remainingOf(store, policy, ['key']), [0])
  },

  'leaves nothing for a later refund to restore': async ({ store }) => {
    const policy = policyOf(5)
    const receipt = await receiptOf(store, 'key', policy, 5)
    await forgetAll(store, keyedPolicies(policy, 'key'))
    await refundAll(store, [receipt])
    const above = await takeOne(store, 'key', policy, 6)
    expectMatch('a charge above the limit', above, { allowed: false, remaining: 5 })
  },
}))

/** Refunds and forgetting. */
export const refundAndForgetCases = [...inEachForm, ...refunds, ...forgets]
