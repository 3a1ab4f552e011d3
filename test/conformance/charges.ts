import { LONG_POLICIES } from './sample-policies.js'
import { expectFigures, figures, remainingOf, takeOne } from './store-calls.js'
import type { Using } from './store-under-test.js'

/** Charges of one part: the limit, the figures, and what is never written. */
export function testCharges(using: Using): void {
  describe.each(LONG_POLICIES)('one charge of a %s', (_name, policyOf) => {
    test(
      'is allowed up to the limit, and denied from there on',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const remaining: number[] = []
        for (let i = 0; i < 5; i++) {
          const step = await takeOne(store, 'key', policy)
          expect(step).toMatchObject({ allowed: true, retryAfterMs: 0 })
          remaining.push(step.remaining)
        }
        expect(remaining).toEqual([4, 3, 2, 1, 0])
        for (let i = 0; i < 3; i++) {
          const step = await takeOne(store, 'key', policy)
          expect(step).toMatchObject({ allowed: false, remaining: 0 })
          expect(step.retryAfterMs).toBeGreaterThan(0)
        }
      }),
    )

    test(
      'shows the figures of the policy at the time of the verdict',
      using(async ({ store }) => {
        await expectFigures(store, policyOf(7), [0, 2, 1, 8, 0, 4, 1, 0])
      }),
    )

    test(
      'writes nothing when it is denied',
      using(async ({ store }) => {
        const policy = policyOf(5)
        await takeOne(store, 'key', policy, 3)
        expect(await takeOne(store, 'key', policy, 3)).toMatchObject({ allowed: false, remaining: 2 })
        expect(await remainingOf(store, policy, ['key'])).toEqual([2])
        expect(await takeOne(store, 'key', policy, 2)).toMatchObject({ allowed: true, remaining: 0 })
      }),
    )

    test(
      'takes nothing at cost 0, even when nothing is left',
      using(async ({ store }) => {
        const policy = policyOf(2)
        const fresh = { allowed: true, remaining: 2, resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 }
        for (let i = 0; i < 3; i++) expect(figures(await takeOne(store, 'key', policy, 0))).toEqual(fresh)
        await takeOne(store, 'key', policy, 2)
        for (let i = 0; i < 3; i++) {
          const step = await takeOne(store, 'key', policy, 0)
          expect(step).toMatchObject({ allowed: true, remaining: 0, retryAfterMs: 0 })
        }
      }),
    )

    test(
      'is denied for ever at a cost above the limit, and takes nothing',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const never = { allowed: false, remaining: 5, retryAfterMs: Number.POSITIVE_INFINITY }
        expect(await takeOne(store, 'key', policy, 6)).toMatchObject(never)
        expect(await takeOne(store, 'key', policy, Number.MAX_SAFE_INTEGER)).toMatchObject(never)
        expect(await takeOne(store, 'key', policy, 5)).toMatchObject({ allowed: true, remaining: 0 })
      }),
    )

    test(
      'leaves other keys alone',
      using(async ({ store }) => {
        const policy = policyOf(3)
        await takeOne(store, 'one', policy, 3)
        await takeOne(store, 'two', policy, 1)
        expect(await remainingOf(store, policy, ['one', 'two', 'three'])).toEqual([0, 2, 3])
      }),
    )
  })
}
