import {
  chargeOne,
  figures,
  LONG_POLICIES,
  part,
  receiptOf,
  remainingOf,
  SHORT_POLICIES,
  takeOne,
  type Using,
} from './kit.js'

/** Units that were let through already are taken whatever is left, by `policy.overdrawing()`, up to a whole limit more. */
export function testOverdraft(using: Using): void {
  describe.each(LONG_POLICIES)('overdrawn, a %s', (_name, policyOf) => {
    test(
      'takes once more as much as its limit, and then nothing is left for anybody',
      using(async ({ store }) => {
        const policy = policyOf(5)
        await takeOne(store, 'key', policy, 3)
        expect(await takeOne(store, 'key', policy.overdrawing(), 6)).toMatchObject({
          allowed: true,
          remaining: 1,
        })
        expect(await remainingOf(store, policy, ['key'])).toEqual([0])
        expect(await takeOne(store, 'key', policy)).toMatchObject({ allowed: false, remaining: 0 })
        expect(await takeOne(store, 'key', policy.overdrawing(), 2)).toMatchObject({
          allowed: false,
          remaining: 1,
        })
        expect(await takeOne(store, 'key', policy.overdrawing(), 1)).toMatchObject({
          allowed: true,
          remaining: 0,
        })
        expect(await takeOne(store, 'key', policy)).toMatchObject({ allowed: false, remaining: 0 })
      }),
    )

    test(
      'takes from fresh keys, many at once, and of one key several times',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const charges = ['a', 'b', 'c', 'a'].map((key) => [part(key, policy.overdrawing(), 4)])
        const verdicts = await store.charge(charges)
        expect(verdicts.map(({ parts }) => parts[0]?.remaining)).toEqual([6, 6, 6, 2])
        expect(await remainingOf(store, policy, ['a', 'b', 'c'])).toEqual([0, 1, 1])
      }),
    )

    test(
      'denies a charge of several keys of which one is overdrawn, and takes nothing of the others',
      using(async ({ store }) => {
        const policy = policyOf(5)
        await takeOne(store, 'overdrawn', policy.overdrawing(), 8)
        const { allowed, parts } = await chargeOne(store, part('other', policy), part('overdrawn', policy))
        expect({ allowed, remaining: parts.map(({ remaining }) => remaining) }).toEqual({
          allowed: false,
          remaining: [5, 0],
        })
        const [peek] = await store.charge([[part('other', policy, 0), part('overdrawn', policy, 0)]])
        expect(peek).toMatchObject({ allowed: true, parts: [{ remaining: 5 }, { remaining: 0 }] })
      }),
    )

    test(
      'goes with usual charges of the same key in one batch, and each is counted once',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const charges = [part('key', policy), part('key', policy.overdrawing(), 5), part('key', policy)]
        const verdicts = await Promise.all(charges.map((each) => store.charge([[each]])))
        const [first, overdraft, last] = verdicts.map(([verdict]) => (verdict?.allowed ? 1 : 0))
        expect(overdraft).toBe(1)
        const remaining = 10 - 5 * (overdraft ?? 0) - (first ?? 0) - (last ?? 0)
        expect(await takeOne(store, 'key', policy.overdrawing(), 0)).toMatchObject({ remaining })
      }),
    )

    test(
      'takes back a refund',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const receipt = await receiptOf(store, 'key', policy, 3)
        await takeOne(store, 'key', policy.overdrawing(), 4)
        await store.refund([receipt])
        expect(await remainingOf(store, policy, ['key'])).toEqual([1])
      }),
    )
  })

  describe.each(SHORT_POLICIES)('overdrawn, in time, a %s', (_name, policyOf) => {
    test(
      'allows again when it says so, and is fresh when it says so',
      using(async ({ store, advance }) => {
        const policy = policyOf(4)
        await takeOne(store, 'key', policy.overdrawing(), 8)
        const { retryAfterMs, resetAfterMs } = await takeOne(store, 'key', policy, 4)
        expect(resetAfterMs).toBeGreaterThanOrEqual(retryAfterMs)
        await advance(resetAfterMs)
        const fresh = { allowed: true, remaining: 4, resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 }
        expect(figures(await takeOne(store, 'key', policy, 0))).toEqual(fresh)
      }),
    )
  })
}
