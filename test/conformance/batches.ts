import { type Charge, tokenBucket, type Verdict } from 'headgate'
import { LONG, LONG_POLICIES } from './sample-policies.js'
import { allowedCount, expectTaken, part, remainingOf, submitOne } from './store-calls.js'
import type { Capabilities, Using } from './store-under-test.js'

/** Batches: order, count, and exactness when many charges come at once. */
export function testBatches(using: Using, { atomicAcrossKeys }: Capabilities): void {
  const bucket = (capacity: number) => tokenBucket({ capacity, refill: capacity, every: LONG })

  test(
    'an empty batch has no verdicts',
    using(async ({ store }) => {
      expect(await store.charge([])).toEqual([])
    }),
  )

  test(
    'a batch has one verdict per charge, in order',
    using(async ({ store }) => {
      const policy = bucket(300)
      const charges = Array.from({ length: 200 }, (_, i): Charge => [part(`key-${i}`, policy, i)])
      const verdicts = await store.charge(charges)
      expect(verdicts.map(({ parts }) => parts.map(({ remaining }) => remaining))).toEqual(
        charges.map((_charge, i) => [300 - i]),
      )
    }),
  )

  test(
    'charges that are submitted one by one are decided as those of a batch',
    using(async ({ store }) => {
      const policy = bucket(100)
      const submitted = Array.from({ length: 150 }, () => submitOne(store, part('submitted', policy)))
      expect(allowedCount((await Promise.all(submitted)) as Verdict[])).toBe(100)
      expect(await remainingOf(store, policy, ['submitted'])).toEqual([0])
      expect(await submitOne(store, part('one', policy, 3), part('other', policy, 4))).toMatchObject({
        allowed: true,
        parts: [{ remaining: 97 }, { remaining: 96 }],
      })
      expect(await submitOne(store, part('one', policy, 98), part('other', policy, 1))).toMatchObject({
        allowed: false,
        parts: [{ allowed: false }, { allowed: true }],
      })
    }),
  )

  test(
    'a batch may hold every policy, and charges of different sizes',
    using(async ({ store }) => {
      const policies = LONG_POLICIES.map(([, policyOf]) => policyOf(4))
      const charges = policies.map((policy, i) =>
        Array.from({ length: i + 1 }, (_, j) => part(`${policy.kind}-${j}`, policy, j + 1)),
      )
      const verdicts = await store.charge(charges)
      expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, true])
      const remaining = verdicts.map(({ parts }) => parts.map((each) => each.remaining))
      expect(remaining).toEqual([[3], [3, 2], [3, 2, 1], [3, 2, 1, 0]])
    }),
  )

  describe.each(LONG_POLICIES)('in a batch, a %s', (_name, policyOf) => {
    test(
      'lets two charges of one key see each other, in order',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const verdicts = await store.charge([3, 3, 0, 2, 1].map((cost) => [part('key', policy, cost)]))
        expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, false, true, true, false])
        expect(verdicts.map(({ parts }) => parts[0]?.remaining)).toEqual([2, 2, 2, 0, 0])
      }),
    )

    test(
      'shows no effect of a denied charge to those that follow',
      using(async ({ store }) => {
        const policy = policyOf(2)
        const verdicts = await store.charge([
          [part('a', policy, 2)],
          [part('b', policy, 2), part('a', policy, 1)],
          [part('b', policy, 2)],
        ])
        const last = verdicts[2]?.allowed // where b comes before a, it may see units that the denied charge refunds
        expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, false, atomicAcrossKeys || last])
        expect(await remainingOf(store, policy, ['a'])).toEqual([0])
        await expectTaken(store, policy, ['b'], last ? 2 : 0)
      }),
    )

    test(
      'allows exactly its limit of 1,000 charges of one key in one batch',
      using(async ({ store }) => {
        const policy = policyOf(100)
        const verdicts = await store.charge(Array.from({ length: 1000 }, () => [part('hot', policy)]))
        expect(verdicts).toHaveLength(1000)
        expect(verdicts.map(({ allowed }) => allowed)).toEqual(
          Array.from({ length: 1000 }, (_, i) => i < 100),
        )
      }),
    )

    test(
      'allows exactly its limit of 1,000 concurrent calls for one key',
      using(async ({ store }) => {
        const policy = policyOf(100)
        const calls = Array.from({ length: 1000 }, async () => store.charge([[part('hot', policy)]]))
        const verdicts = (await Promise.all(calls)).flat()
        expect(verdicts).toHaveLength(1000)
        expect(allowedCount(verdicts)).toBe(100)
        const left = verdicts.filter(({ allowed }) => allowed).map(({ parts }) => parts[0]?.remaining)
        expect([...left].sort((a, b) => Number(b) - Number(a))).toEqual(
          Array.from({ length: 100 }, (_, i) => 99 - i),
        )
      }),
    )
  })

  test(
    atomicAcrossKeys
      ? 'charges that name the same keys in opposite order, all at once, are exact'
      : 'charges that name the same keys in opposite order, all at once, take exactly what is admitted',
    using(async ({ store }) => {
      const policy = bucket(150)
      const calls = Array.from({ length: 500 }, async (_, i) => {
        const [first, second] = i % 2 === 0 ? ['a', 'b'] : ['b', 'a']
        return store.charge([[part(first as string, policy), part(second as string, policy)]])
      })
      const verdicts = (await Promise.all(calls)).flat()
      const admitted = allowedCount(verdicts)
      if (atomicAcrossKeys) expect(admitted).toBe(150)
      else expect(admitted).toBeLessThanOrEqual(150)
      await expectTaken(store, policy, ['a', 'b'], admitted)
    }),
  )
}
