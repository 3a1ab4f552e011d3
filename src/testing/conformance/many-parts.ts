import { tokenBucket } from '../../policies/token-bucket.js'
import { expectEqual, expectMatch } from '../assertions.js'
import { LONG, LONG_KINDS } from './sample-policies.js'
import { chargeOne, freshFigures, part, remainingOf, takeOne } from './store-calls.js'
import { type Bodies, casesOf, casesOfEach } from './store-case.js'

const POSITIONS = ['first', 'middle', 'last']

const ofEachPolicy = casesOfEach(LONG_KINDS, 'a charge of several parts of a %s', (policyOf) => {
  const deniedAt = (at: number): Bodies => ({
    [`takes none when the ${POSITIONS[at]} one denies, and shows the others unchanged`]: async ({
      store,
    }) => {
      const policy = policyOf(5)
      const keys = ['a', 'b', 'c']
      await takeOne(store, keys[at] as string, policy, 5)
      const verdict = await chargeOne(store, ...keys.map((key) => part(key, policy)))
      const expected = keys.map((_key, i) => (i === at ? { allowed: false, remaining: 0 } : freshFigures(5)))
      expectEqual('allowed', verdict.allowed, false)
      expectMatch('the parts of the denied charge', verdict.parts, expected)
      const left = expected.map(({ remaining }) => remaining)
      expectEqual('remaining after the denial', await remainingOf(store, policy, keys), left)
    },
  })

  return {
    'takes every part when all allow': async ({ store }) => {
      const policy = policyOf(5)
      const verdict = await chargeOne(store, part('ip', policy, 1), part('account', policy, 2))
      expectMatch('a charge of 1 and 2 of two fresh keys', verdict, {
        allowed: true,
        parts: [
          { allowed: true, remaining: 4 },
          { allowed: true, remaining: 3 },
        ],
      })
      expectEqual('remaining afterwards', await remainingOf(store, policy, ['ip', 'account']), [4, 3])
    },

    ...deniedAt(0),
    ...deniedAt(1),
    ...deniedAt(2),

    'shows for each part whether it would deny alone': async ({ store }) => {
      const policy = policyOf(5)
      await chargeOne(store, part('a', policy, 5), part('b', policy, 4))
      const charge = [part('a', policy, 1), part('b', policy, 1), part('b2', policy, 6)]
      expectMatch('of three parts, the first and the last deny', await chargeOne(store, ...charge), {
        allowed: false,
        parts: [
          { allowed: false, remaining: 0 },
          { allowed: true, remaining: 1 },
          { allowed: false, remaining: 5, retryAfterMs: Number.POSITIVE_INFINITY },
        ],
      })
    },

    'counts a key once for each time that it is named': async ({ store }) => {
      const policy = policyOf(5)
      const verdict = await chargeOne(store, part('key', policy, 2), part('key', policy, 2))
      expectMatch('two parts of 2 of one fresh key', verdict, {
        allowed: true,
        parts: [{ remaining: 3 }, { remaining: 1 }],
      })
      expectEqual('remaining afterwards', await remainingOf(store, policy, ['key']), [1])
    },

    'takes nothing from a key that is named twice and has enough for one only, and shows it unchanged':
      async ({ store }) => {
        const policy = policyOf(5)
        const verdict = await chargeOne(store, part('key', policy, 3), part('key', policy, 3))
        expectEqual('remaining after the denial', await remainingOf(store, policy, ['key']), [5])
        expectMatch('two parts of 3 of one key with a limit of 5', verdict, {
          allowed: false,
          parts: [
            { allowed: true, remaining: 5, resetAfterMs: 0 },
            { allowed: false, remaining: 5, resetAfterMs: 0, retryAfterMs: Number.POSITIVE_INFINITY },
          ],
        })
      },

    'may peek at one key and take from another': async ({ store }) => {
      const policy = policyOf(5)
      await takeOne(store, 'full', policy, 5)
      const verdict = await chargeOne(store, part('full', policy, 0), part('other', policy, 2))
      const expected = { allowed: true, parts: [{ remaining: 0 }, { remaining: 3 }] }
      expectMatch('a peek at a key at its limit, and a charge of 2 of another', verdict, expected)
      expectEqual('remaining afterwards', await remainingOf(store, policy, ['full', 'other']), [0, 3])
    },
  }
})

const ofSeveralPolicies = casesOf('', {
  'several policies for one client are charged together: when one denies, none is taken': async ({
    store,
  }) => {
    const policies = LONG_KINDS.map(([name, policyOf], i) => [name, policyOf(i + 2)] as const)
    const all = policies.map(([name, policy]) => part(`client:${name}`, policy))
    for (const count of ['first', 'second'])
      expectEqual(`the ${count} charge is allowed`, (await chargeOne(store, ...all)).allowed, true)
    const third = await chargeOne(store, ...all)
    expectEqual('the third charge is allowed', third.allowed, false)
    const shown = third.parts.map(({ remaining }) => remaining)
    expectEqual('remaining as the denial shows it', shown, [0, 1, 2, 3, 4])
    const left = policies.map(([name, policy]) => remainingOf(store, policy, [`client:${name}`]))
    expectEqual('remaining after the denial', (await Promise.all(left)).flat(), [0, 1, 2, 3, 4])
  },

  'a charge of 16 parts is one charge': async ({ store }) => {
    const policy = tokenBucket({ capacity: 2, refill: 2, every: LONG })
    const keys = Array.from({ length: 16 }, (_, i) => `part-${i}`)
    const charge = keys.map((key) => part(key, policy))
    expectEqual('the number of parts', (await chargeOne(store, ...charge)).parts.length, 16)
    await takeOne(store, 'part-15', policy)
    expectEqual('allowed where part 15 denies', (await chargeOne(store, ...charge)).allowed, false)
    const left = [...Array<number>(15).fill(1), 0]
    expectEqual('remaining after the denial', await remainingOf(store, policy, keys), left)
  },
})

/** Charges of several parts: all or nothing. */
export const manyPartsCases = [...ofEachPolicy, ...ofSeveralPolicies]
