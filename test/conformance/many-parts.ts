import { tokenBucket } from 'headgate'
import { LONG, LONG_POLICIES } from './sample-policies.js'
import { chargeOne, part, remainingOf, takeOne } from './store-calls.js'
import type { Using } from './store-under-test.js'

/** Charges of several parts: all or nothing. */
export function testManyParts(using: Using): void {
  describe.each(LONG_POLICIES)('a charge of several parts of a %s', (_name, policyOf) => {
    test(
      'takes every part when all allow',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const verdict = await chargeOne(store, part('ip', policy, 1), part('account', policy, 2))
        expect(verdict.allowed).toBe(true)
        expect(verdict.parts).toMatchObject([
          { allowed: true, remaining: 4 },
          { allowed: true, remaining: 3 },
        ])
        expect(await remainingOf(store, policy, ['ip', 'account'])).toEqual([4, 3])
      }),
    )

    test.each([
      ['first', 0],
      ['middle', 1],
      ['last', 2],
    ])('takes none when the %s one denies, and shows the others unchanged', (_position, exhausted) =>
      using(async ({ store }) => {
        const policy = policyOf(5)
        const keys = ['a', 'b', 'c']
        await takeOne(store, keys[exhausted] as string, policy, 5)
        const verdict = await chargeOne(store, ...keys.map((key) => part(key, policy)))
        expect(verdict.allowed).toBe(false)
        const figures = keys.map((_key, i) =>
          i === exhausted
            ? { allowed: false, remaining: 0 }
            : { allowed: true, remaining: 5, resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 },
        )
        expect(verdict.parts).toMatchObject(figures)
        expect(await remainingOf(store, policy, keys)).toEqual(figures.map(({ remaining }) => remaining))
      })(),
    )

    test(
      'shows for each part whether it would deny alone',
      using(async ({ store }) => {
        const policy = policyOf(5)
        await chargeOne(store, part('a', policy, 5), part('b', policy, 4))
        const { allowed, parts } = await chargeOne(
          store,
          part('a', policy, 1),
          part('b', policy, 1),
          part('b2', policy, 6),
        )
        expect(allowed).toBe(false)
        expect(parts.map((each) => each.allowed)).toEqual([false, true, false])
        expect(parts.map((each) => each.remaining)).toEqual([0, 1, 5])
        expect(parts[2]?.retryAfterMs).toBe(Number.POSITIVE_INFINITY)
      }),
    )

    test(
      'counts a key once for each time that it is named',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const verdict = await chargeOne(store, part('key', policy, 2), part('key', policy, 2))
        expect(verdict.allowed).toBe(true)
        expect(verdict.parts.map(({ remaining }) => remaining)).toEqual([3, 1])
        expect(await remainingOf(store, policy, ['key'])).toEqual([1])
      }),
    )

    test(
      'takes nothing from a key that is named twice and has enough for one only, and shows it unchanged',
      using(async ({ store }) => {
        const policy = policyOf(5)
        const { allowed, parts } = await chargeOne(store, part('key', policy, 3), part('key', policy, 3))
        expect(allowed).toBe(false)
        expect(await remainingOf(store, policy, ['key'])).toEqual([5])
        expect(parts).toMatchObject([
          { allowed: true, remaining: 5, resetAfterMs: 0 },
          { allowed: false, remaining: 5, resetAfterMs: 0, retryAfterMs: Number.POSITIVE_INFINITY },
        ])
      }),
    )

    test(
      'may peek at one key and take from another',
      using(async ({ store }) => {
        const policy = policyOf(5)
        await takeOne(store, 'full', policy, 5)
        const verdict = await chargeOne(store, part('full', policy, 0), part('other', policy, 2))
        expect(verdict).toMatchObject({ allowed: true, parts: [{ remaining: 0 }, { remaining: 3 }] })
        expect(await remainingOf(store, policy, ['full', 'other'])).toEqual([0, 3])
      }),
    )
  })

  test(
    'several policies for one client are charged together: when one denies, none is taken',
    using(async ({ store }) => {
      const policies = LONG_POLICIES.map(([name, policyOf], i) => [name, policyOf(i + 2)] as const)
      const all = policies.map(([name, policy]) => part(`client:${name}`, policy))
      expect((await chargeOne(store, ...all)).allowed).toBe(true)
      expect((await chargeOne(store, ...all)).allowed).toBe(true)
      const third = await chargeOne(store, ...all)
      expect(third.allowed).toBe(false)
      expect(third.parts.map(({ remaining }) => remaining)).toEqual([0, 1, 2, 3])
      const left = policies.map(([name, policy]) => remainingOf(store, policy, [`client:${name}`]))
      expect((await Promise.all(left)).flat()).toEqual([0, 1, 2, 3])
    }),
  )

  test(
    'a charge of 16 parts is one charge',
    using(async ({ store }) => {
      const policy = tokenBucket({ capacity: 2, refill: 2, every: LONG })
      const keys = Array.from({ length: 16 }, (_, i) => `part-${i}`)
      const charge = keys.map((key) => part(key, policy))
      expect((await chargeOne(store, ...charge)).parts).toHaveLength(16)
      await takeOne(store, 'part-15', policy)
      expect((await chargeOne(store, ...charge)).allowed).toBe(false)
      expect(await remainingOf(store, policy, keys)).toEqual([...Array(15).fill(1), 0])
    }),
  )
}
