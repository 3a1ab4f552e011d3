import { consecutive } from 'headgate'
import { SHORT_POLICIES } from './sample-policies.js'
import { expectFigures, figures, part, receiptOf, takeOne } from './store-calls.js'
import type { Capabilities, Using } from './store-under-test.js'

/**
 * What time does: a state is fresh again after `resetAfterMs`, and the same cost is allowed after
 * `retryAfterMs`.
 */
export function testExpiry(using: Using, { settableClock }: Capabilities): void {
  describe.each(SHORT_POLICIES)('in time, a %s', (_name, policyOf) => {
    const fresh = { allowed: true, remaining: 3, resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 }

    test(
      'is fresh again after resetAfterMs',
      using(async ({ store, advance }) => {
        const policy = policyOf(3)
        const { resetAfterMs } = await takeOne(store, 'key', policy, 3)
        expect(resetAfterMs).toBeGreaterThan(0)
        await advance(resetAfterMs)
        expect(figures(await takeOne(store, 'key', policy, 0))).toEqual(fresh)
        expect(await takeOne(store, 'key', policy, 3)).toMatchObject({ allowed: true, remaining: 0 })
      }),
    )

    test(
      'allows the same cost after retryAfterMs',
      using(async ({ store, advance }) => {
        const policy = policyOf(3)
        const [taken, denied] = await store.charge([[part('key', policy, 3)], [part('key', policy, 2)]])
        expect(taken).toMatchObject({ allowed: true })
        expect(denied).toMatchObject({ allowed: false, parts: [{ remaining: 0 }] })
        const retryAfterMs = denied?.parts[0]?.retryAfterMs as number
        expect(retryAfterMs).toBeGreaterThan(0)
        await advance(retryAfterMs)
        expect(await takeOne(store, 'key', policy, 2)).toMatchObject({ allowed: true })
      }),
    )

    test(
      'ignores a refund to a key that is fresh again',
      using(async ({ store, advance }) => {
        const policy = policyOf(3)
        const receipt = await receiptOf(store, 'key', policy, 3)
        await advance((receipt.resetAtMs as number) - receipt.takenAtMs)
        await store.refund([receipt])
        expect(await takeOne(store, 'key', policy, 4)).toMatchObject({ allowed: false, remaining: 3 })
        expect(await takeOne(store, 'key', policy, 3)).toMatchObject({ allowed: true, remaining: 0 })
      }),
    )

    test(
      'shows the figures of the policy all the way until it is fresh again',
      using(async ({ store, advance }) => {
        const costs = [2, 0, 1, 1, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0]
        await expectFigures(store, policyOf(3), costs, () => advance(30))
      }),
    )

    if (settableClock) {
      test(
        'denies the same cost 1 ms before retryAfterMs, and is not fresh 1 ms before resetAfterMs',
        using(async ({ store, advance }) => {
          const policy = policyOf(3)
          await takeOne(store, 'key', policy, 3)
          const { retryAfterMs, resetAfterMs } = await takeOne(store, 'key', policy, 2)
          await advance(retryAfterMs - 1)
          expect(await takeOne(store, 'key', policy, 2)).toMatchObject({ allowed: false, retryAfterMs: 1 })
          await advance(resetAfterMs - retryAfterMs)
          expect(await takeOne(store, 'key', policy, 0)).toMatchObject({ resetAfterMs: 1 })
        }),
      )
    }
  })

  test(
    'time alone never frees a consecutive limit',
    using(async ({ store, advance }) => {
      const policy = consecutive({ limit: 3 })
      await takeOne(store, 'key', policy, 3)
      await advance(settableClock ? 10 * 365 * 24 * 3600 * 1000 : 1500)
      const never = { allowed: false, remaining: 0, retryAfterMs: Number.POSITIVE_INFINITY }
      expect(await takeOne(store, 'key', policy)).toMatchObject(never)
    }),
  )
}
