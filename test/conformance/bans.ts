import { ban, type Policy, slidingWindow } from 'headgate'
import { LONG, LONG_POLICIES } from './sample-policies.js'
import { chargeOne, figures, keyedPolicies, part, receiptOf, remainingOf, takeOne } from './store-calls.js'
import type { Capabilities, Using } from './store-under-test.js'

/** A ban after two denials, of which no test sees the end. */
function banning(policy: Policy): Policy {
  return ban(policy, { after: 2, within: LONG, for: ['1500d', '3000d'] })
}
const BAN_MS = 1500 * 86_400_000

/** Bans: the one policy of which a denial is written. */
export function testBans(using: Using, { settableClock }: Capabilities): void {
  describe.each(LONG_POLICIES)('a ban from a %s', (_name, policyOf) => {
    test(
      'begins after its number of denials, and denies what the policy would allow',
      using(async ({ store }) => {
        const policy = banning(policyOf(5))
        expect(await takeOne(store, 'key', policy, 4)).toMatchObject({ allowed: true, remaining: 1 })
        expect(await takeOne(store, 'key', policy, 2)).toMatchObject({ allowed: false, remaining: 1 })
        const banned = await takeOne(store, 'key', policy, 3)
        expect(banned).toMatchObject({ allowed: false, remaining: 0 })
        expect(banned.retryAfterMs).toBeGreaterThanOrEqual(BAN_MS)
        expect(await takeOne(store, 'key', policy, 1)).toMatchObject({ allowed: false, remaining: 0 })
        expect(await takeOne(store, 'key', policy, 0)).toMatchObject({ allowed: true, remaining: 0 })
        expect(await remainingOf(store, policy, ['key', 'other'])).toEqual([0, 5])
      }),
    )

    test(
      'shows the figures of the policy at the time of the verdict',
      using(async ({ store }) => {
        const policy = banning(policyOf(5))
        let state = policy.take(undefined, 0, 0).next
        for (const cost of [4, 2, 0, 1, 1, 0, 1, 6, 0]) {
          const { atMs, parts } = await chargeOne(store, part('key', policy, cost))
          const step = policy.take(state, atMs, cost)
          state = step.next ?? state
          expect(parts.map(figures)).toEqual([figures(step)])
        }
      }),
    )

    test(
      'counts the denials of one batch, in order',
      using(async ({ store }) => {
        const policy = banning(policyOf(2))
        const costs = [1, 2, 1, 1, 1]
        const verdicts = await store.charge(costs.map((cost) => [part('key', policy, cost)]))
        expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, false, true, false, false])
        expect(verdicts[3]?.parts[0]?.retryAfterMs).toBeGreaterThanOrEqual(BAN_MS)
      }),
    )

    test(
      'counts a denied charge of several parts only if its own part denies',
      using(async ({ store }) => {
        const [policy, other] = [banning(policyOf(1)), policyOf(1)]
        await takeOne(store, 'other', other)
        for (let i = 0; i < 3; i++) await chargeOne(store, part('key', policy), part('other', other))
        expect(await takeOne(store, 'key', policy)).toMatchObject({ allowed: true })
        for (let i = 0; i < 2; i++) await chargeOne(store, part('free', other), part('key', policy))
        expect((await takeOne(store, 'key', policy)).retryAfterMs).toBeGreaterThan(BAN_MS / 2)
        expect(await remainingOf(store, other, ['free'])).toEqual([1])
      }),
    )

    test(
      'counts a charge that names a key twice once',
      using(async ({ store }) => {
        const policy = banning(policyOf(1))
        await chargeOne(store, part('key', policy, 2), part('key', policy, 3))
        expect(await remainingOf(store, policy, ['key'])).toEqual([1])
        await chargeOne(store, part('key', policy, 2), part('key', policy, 3))
        expect(await remainingOf(store, policy, ['key'])).toEqual([0])
      }),
    )

    test(
      'outlasts a refund, and ends when the key is forgotten',
      using(async ({ store }) => {
        const policy = banning(policyOf(3))
        const receipt = await receiptOf(store, 'key', policy, 3)
        for (let i = 0; i < 2; i++) await takeOne(store, 'key', policy)
        await store.refund([receipt])
        const { allowed, retryAfterMs } = await takeOne(store, 'key', policy)
        expect({ allowed, isBan: retryAfterMs <= BAN_MS }).toEqual({ allowed: false, isBan: true })
        await store.forget(keyedPolicies(policy, 'key'))
        const fresh = { allowed: true, remaining: 3, resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 }
        expect(figures(await takeOne(store, 'key', policy, 0))).toEqual(fresh)
      }),
    )
  })

  test(
    'a ban ends at retryAfterMs, the next one is longer, and the escalation resets',
    using(async ({ store, advance }) => {
      const window = slidingWindow({ limit: 1, window: '100ms', slices: 1 })
      const policy = ban(window, { after: 1, within: 300, for: [400, 800] })

      /** Takes one too many. Returns how long that is denied. */
      async function bannedForMs(): Promise<number> {
        await advance((await takeOne(store, 'key', policy, 0)).moreAfterMs) // should the window be used up
        const [, denied] = await store.charge([[part('key', policy)], [part('key', policy)]])
        expect(denied?.allowed).toBe(false)
        return denied?.parts[0]?.retryAfterMs as number
      }

      expect(await bannedForMs()).toBe(400)
      await advance(400)
      expect(await bannedForMs()).toBe(800)
      if (settableClock) {
        await advance(799)
        expect(await takeOne(store, 'key', policy)).toMatchObject({ allowed: false, retryAfterMs: 1 })
      } else expect(await takeOne(store, 'key', policy)).toMatchObject({ allowed: false })
      await advance(801 + 800)
      const fresh = { allowed: true, remaining: 1, resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 }
      expect(figures(await takeOne(store, 'key', policy, 0))).toEqual(fresh)
      expect(await bannedForMs()).toBe(400)
    }),
  )
}
