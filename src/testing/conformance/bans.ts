import { ban } from '../../policies/ban.js'
import type { Policy } from '../../policies/policy.js'
import { slidingWindow } from '../../policies/sliding-window.js'
import { expectAtLeast, expectAtMost, expectEqual, expectMatch } from '../assertions.js'
import { LONG, LONG_KINDS } from './sample-policies.js'
import {
  allowedOf,
  chargeAll,
  chargeOne,
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
import { casesOf, casesOfEach, type StoreCase } from './store-case.js'
import type { Capabilities, StoreUnderTest } from './store-under-test.js'

/** A ban after two denials, of which no test sees the end. */
function banning(policy: Policy): Policy {
  return ban(policy, { after: 2, within: LONG, for: ['1500d', '3000d'] })
}
const BAN_MS = 1500 * 86_400_000

const ofEachPolicy = casesOfEach(LONG_KINDS, 'a ban from a %s', (policyOf) => ({
  'begins after its number of denials, and denies what the policy would allow': async ({ store }) => {
    const policy = banning(policyOf(5))
    const take = (cost: number) => takeOne(store, 'key', policy, cost)
    expectMatch('a charge of 4 of 5', await take(4), { allowed: true, remaining: 1 })
    expectMatch('a denial: the first of two', await take(2), { allowed: false, remaining: 1 })
    const banned = await take(3)
    expectMatch('the second denial begins the ban', banned, { allowed: false, remaining: 0 })
    expectAtLeast('retryAfterMs of the second denial', banned.retryAfterMs, BAN_MS)
    expectMatch('the unit that is left, during the ban', await take(1), { allowed: false, remaining: 0 })
    expectMatch('a peek during the ban', await take(0), { allowed: true, remaining: 0 })
    const left = await remainingOf(store, policy, ['key', 'other'])
    expectEqual('remaining of the banned key and of another', left, [0, 5])
  },

  'shows the figures of the policy at the time of the verdict': async ({ store }) => {
    const policy = banning(policyOf(5))
    let state = policy.take(undefined, 0, 0).next
    for (const [i, cost] of [4, 2, 0, 1, 1, 0, 1, 6, 0].entries()) {
      const { atMs, parts } = await chargeOne(store, part('key', policy, cost))
      const step = policy.take(state, atMs, cost)
      state = step.next ?? state
      expectEqual(`the figures of charge ${i + 1}, of ${cost}`, parts.map(figures), [figures(step)])
    }
  },

  'counts the denials of one batch, in order': async ({ store }) => {
    const policy = banning(policyOf(2))
    const costs = [1, 2, 1, 1, 1]
    const verdicts = await chargeAll(
      store,
      costs.map((cost) => [part('key', policy, cost)]),
    )
    expectEqual('costs 1, 2, 1, 1, 1: allowed', allowedOf(verdicts), [true, false, true, false, false])
    expectAtLeast('retryAfterMs of the second denial', verdicts[3]?.parts[0]?.retryAfterMs, BAN_MS)
  },

  'counts a denied charge of several parts only if its own part denies': async ({ store }) => {
    const [policy, other] = [banning(policyOf(1)), policyOf(1)]
    await takeOne(store, 'other', other)
    for (let i = 0; i < 3; i++) await chargeOne(store, part('key', policy), part('other', other))
    const first = await takeOne(store, 'key', policy)
    expectMatch('a charge after three denials by another part', first, { allowed: true })
    for (let i = 0; i < 2; i++) await chargeOne(store, part('free', other), part('key', policy))
    const { retryAfterMs } = await takeOne(store, 'key', policy)
    expectAtLeast('retryAfterMs after two denials by its own part', retryAfterMs, BAN_MS / 2 + 1)
    expectEqual('remaining of the other part', await remainingOf(store, other, ['free']), [1])
  },

  'counts a charge that names a key twice once': async ({ store }) => {
    const policy = banning(policyOf(1))
    for (const [denials, left] of [1, 0].entries()) {
      await chargeOne(store, part('key', policy, 2), part('key', policy, 3))
      const remaining = await remainingOf(store, policy, ['key'])
      expectEqual(`remaining after ${denials + 1} of two denials`, remaining, [left])
    }
  },

  'outlasts a refund, and ends when the key is forgotten': async ({ store }) => {
    const policy = banning(policyOf(3))
    const receipt = await receiptOf(store, 'key', policy, 3)
    for (let i = 0; i < 2; i++) await takeOne(store, 'key', policy)
    await refundAll(store, [receipt])
    const { allowed, retryAfterMs } = await takeOne(store, 'key', policy)
    expectEqual('a charge during the ban is allowed, after all units were refunded', allowed, false)
    expectAtMost('its retryAfterMs, of a ban of 1500 days', retryAfterMs, BAN_MS)
    await forgetAll(store, keyedPolicies(policy, 'key'))
    const peek = await takeOne(store, 'key', policy, 0)
    expectEqual('a peek at the forgotten key', figures(peek), freshFigures(3))
  },
}))

const ofTime = ({ settableClock }: Capabilities) => {
  const policy = ban(slidingWindow({ limit: 1, window: '100ms', slices: 1 }), {
    after: 1,
    within: 300,
    for: [400, 800],
  })

  /** Takes one too many. Returns how long that is denied. */
  async function bannedForMs({ store, advance }: StoreUnderTest): Promise<number | undefined> {
    await advance((await takeOne(store, 'key', policy, 0)).moreAfterMs) // should the window be used up
    const [, denied] = await chargeAll(store, [[part('key', policy)], [part('key', policy)]])
    expectEqual('the second charge of a limit of 1 is allowed', denied?.allowed, false)
    return denied?.parts[0]?.retryAfterMs
  }

  return casesOf('', {
    'a ban ends at retryAfterMs, the next one is longer, and the escalation resets': async (made) => {
      const { store, advance } = made
      expectEqual('how long the first ban lasts', await bannedForMs(made), 400)
      await advance(400)
      expectEqual('how long the second ban lasts', await bannedForMs(made), 800)
      if (settableClock) {
        await advance(799)
        const last = await takeOne(store, 'key', policy)
        expectMatch('1 ms before the end of the ban', last, { allowed: false, retryAfterMs: 1 })
      } else expectMatch('during the ban', await takeOne(store, 'key', policy), { allowed: false })
      await advance(801 + 800)
      const peek = await takeOne(store, 'key', policy, 0)
      expectEqual('a peek once the escalation has reset', figures(peek), freshFigures(1))
      expectEqual('how long the next ban lasts', await bannedForMs(made), 400)
    },
  })
}

/** Bans: the one policy of which a denial is written. */
export function banCases(capabilities: Capabilities): StoreCase[] {
  return [...ofEachPolicy, ...ofTime(capabilities)]
}
