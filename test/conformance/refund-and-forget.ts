import type { Refund } from 'headgate'
import { LONG_POLICIES } from './sample-policies.js'
import { figures, keyedPolicies, part, receiptOf, remainingOf, takeOne } from './store-calls.js'
import type { Using } from './store-under-test.js'

const LONG_AGO_MS = 3 * 1000 * 24 * 3600 * 1000 // three of the long windows

/**
 * A refund may leave out when its key would be fresh again. For units taken from a fresh key that makes no
 * difference.
 */
const FORMS: readonly (readonly [string, (receipt: Refund) => Refund])[] = [
  ['with resetAtMs', (receipt) => receipt],
  ['without resetAtMs', ({ resetAtMs: _, ...rest }) => rest],
]

/** Refunds and forgetting. */
export function testRefundAndForget(using: Using): void {
  describe.each(LONG_POLICIES)('a refund to a %s', (name, policyOf) => {
    describe.each(FORMS)('%s', (_form, formOf) => {
      test(
        'returns the units that were taken',
        using(async ({ store }) => {
          const policy = policyOf(5)
          const receipt = await receiptOf(store, 'key', policy, 4)
          await store.refund([{ ...formOf(receipt), cost: 3 }])
          expect(await remainingOf(store, policy, ['key'])).toEqual([4])
          expect(await takeOne(store, 'key', policy, 4)).toMatchObject({ allowed: true, remaining: 0 })
          expect(await takeOne(store, 'key', policy, 1)).toMatchObject({ allowed: false })
        }),
      )

      test.each([4, 5, 1000])('of %d units after 4 were taken leaves a fresh state, and no more', (cost) =>
        using(async ({ store }) => {
          const policy = policyOf(5)
          const receipt = await receiptOf(store, 'key', policy, 4)
          await store.refund([{ ...formOf(receipt), cost }])
          const { allowed, remaining, resetAfterMs } = await takeOne(store, 'key', policy, 0)
          expect({ allowed, remaining, resetAfterMs }).toEqual({
            allowed: true,
            remaining: 5,
            resetAfterMs: 0,
          })
          expect(await takeOne(store, 'key', policy, 6)).toMatchObject({ allowed: false })
          expect(await takeOne(store, 'key', policy, 5)).toMatchObject({ allowed: true, remaining: 0 })
        })(),
      )
    })

    test(
      'frees a client at its limit',
      using(async ({ store }) => {
        const policy = policyOf(2)
        const receipt = await receiptOf(store, 'key', policy, 2)
        expect((await takeOne(store, 'key', policy)).allowed).toBe(false)
        await store.refund([{ ...receipt, cost: 1 }])
        expect((await takeOne(store, 'key', policy)).allowed).toBe(true)
        expect((await takeOne(store, 'key', policy)).allowed).toBe(false)
      }),
    )

    test(
      'does not fail for an unknown key, and creates no credit',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const receipt = await receiptOf(store, 'known', policy, 1)
        await store.refund([{ ...receipt, key: 'unknown', cost: 3 }, receipt])
        expect(await remainingOf(store, policy, ['unknown', 'known'])).toEqual([5, 5])
        expect((await takeOne(store, 'unknown', policy, 6)).allowed).toBe(false)
      }),
    )

    test(
      'may name one key several times',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const one = { ...(await receiptOf(store, 'key', policy, 5)), cost: 1 }
        await store.refund([one, one, one])
        expect(await remainingOf(store, policy, ['key'])).toEqual([3])
      }),
    )

    test(
      'changes nothing if it names no key or cost 0',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const receipt = await receiptOf(store, 'key', policy, 4)
        await store.refund([])
        await store.refund([{ ...receipt, cost: 0 }])
        expect(await remainingOf(store, policy, ['key'])).toEqual([1])
      }),
    )

    if (name !== 'consecutive') {
      test(
        'changes nothing if the units were taken windows ago',
        using(async ({ store }) => {
          const policy = policyOf(5)
          const receipt = await receiptOf(store, 'key', policy, 4)
          const takenAtMs = receipt.takenAtMs - LONG_AGO_MS
          const resetAtMs = (receipt.resetAtMs as number) - LONG_AGO_MS
          await store.refund([{ ...receipt, cost: 3, takenAtMs, resetAtMs }])
          expect(await remainingOf(store, policy, ['key'])).toEqual([1])
        }),
      )
    }

    if (name === 'tokenBucket') {
      test(
        'changes nothing if the units were restored by resetAtMs',
        using(async ({ store }) => {
          const policy = policyOf(5)
          const receipt = await receiptOf(store, 'key', policy, 4)
          await store.refund([{ ...receipt, cost: 3, resetAtMs: receipt.takenAtMs }])
          expect(await remainingOf(store, policy, ['key'])).toEqual([1])
        }),
      )
    }
  })

  describe.each(LONG_POLICIES)('a forget, with a %s,', (_name, policyOf) => {
    test(
      'makes a key fresh, and leaves the others alone',
      using(async ({ store }) => {
        const policy = policyOf(5)
        await store.charge(['a', 'b', 'c'].map((key) => [part(key, policy, 5)]))
        await store.forget(keyedPolicies(policy, 'a', 'c'))
        expect(await remainingOf(store, policy, ['a', 'b', 'c'])).toEqual([5, 0, 5])
        const fresh = { allowed: true, remaining: 5, resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 }
        expect(figures(await takeOne(store, 'a', policy, 0))).toEqual(fresh)
      }),
    )

    test(
      'does not fail for no key, an unknown key, or a key named twice',
      using(async ({ store }) => {
        const policy = policyOf(5)
        await takeOne(store, 'key', policy, 5)
        await store.forget([])
        await store.forget(keyedPolicies(policy, 'unknown', 'other', 'other'))
        expect(await remainingOf(store, policy, ['key'])).toEqual([0])
      }),
    )

    test(
      'leaves nothing for a later refund to restore',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const receipt = await receiptOf(store, 'key', policy, 5)
        await store.forget(keyedPolicies(policy, 'key'))
        await store.refund([receipt])
        expect(await takeOne(store, 'key', policy, 6)).toMatchObject({ allowed: false, remaining: 5 })
      }),
    )
  })
}
