import { expectEqual, expectMatch, expectPositive } from '../assertions.js'
import { LONG_POLICIES } from './sample-policies.js'
import { expectFigures, figures, freshFigures, remainingOf, takeOne } from './store-calls.js'
import { casesOfEach } from './store-case.js'

/** Charges of one part: the limit, the figures, and what is never written. */
export const chargeCases = casesOfEach(LONG_POLICIES, 'one charge of a %s', (policyOf) => ({
  'is allowed up to the limit, and denied from there on': async ({ store }) => {
    const policy = policyOf(5)
    const remaining: number[] = []
    for (let i = 1; i <= 5; i++) {
      const step = await takeOne(store, 'key', policy)
      expectMatch(`charge ${i} of a limit of 5`, step, { allowed: true, retryAfterMs: 0 })
      remaining.push(step.remaining)
    }
    expectEqual('remaining after each charge', remaining, [4, 3, 2, 1, 0])
    for (let i = 6; i <= 8; i++) {
      const step = await takeOne(store, 'key', policy)
      expectMatch(`charge ${i} of a limit of 5`, step, { allowed: false, remaining: 0 })
      expectPositive(`retryAfterMs of charge ${i}`, step.retryAfterMs)
    }
  },

  'shows the figures of the policy at the time of the verdict': async ({ store }) => {
    await expectFigures(store, policyOf(7), [0, 2, 1, 8, 0, 4, 1, 0])
  },

  'writes nothing when it is denied': async ({ store }) => {
    const policy = policyOf(5)
    await takeOne(store, 'key', policy, 3)
    const denied = await takeOne(store, 'key', policy, 3)
    expectMatch('a charge of 3 where 2 are left', denied, { allowed: false, remaining: 2 })
    expectEqual('remaining after the denial', await remainingOf(store, policy, ['key']), [2])
    const rest = await takeOne(store, 'key', policy, 2)
    expectMatch('a charge of the 2 that are left', rest, { allowed: true, remaining: 0 })
  },

  'takes nothing at cost 0, even when nothing is left': async ({ store }) => {
    const policy = policyOf(2)
    for (let i = 0; i < 3; i++)
      expectEqual('a peek at a fresh key', figures(await takeOne(store, 'key', policy, 0)), freshFigures(2))
    await takeOne(store, 'key', policy, 2)
    const empty = { allowed: true, remaining: 0, retryAfterMs: 0 }
    for (let i = 0; i < 3; i++)
      expectMatch('a peek at a key at its limit', await takeOne(store, 'key', policy, 0), empty)
  },

  'is denied for ever at a cost above the limit, and takes nothing': async ({ store }) => {
    const policy = policyOf(5)
    const never = { allowed: false, remaining: 5, retryAfterMs: Number.POSITIVE_INFINITY }
    for (const cost of [6, Number.MAX_SAFE_INTEGER])
      expectMatch(`a charge of ${cost} of a limit of 5`, await takeOne(store, 'key', policy, cost), never)
    const whole = await takeOne(store, 'key', policy, 5)
    expectMatch('a charge of the whole limit afterwards', whole, { allowed: true, remaining: 0 })
  },

  'leaves other keys alone': async ({ store }) => {
    const policy = policyOf(3)
    await takeOne(store, 'one', policy, 3)
    await takeOne(store, 'two', policy, 1)
    const left = await remainingOf(store, policy, ['one', 'two', 'three'])
    expectEqual('remaining after charges of 3, 1 and none', left, [0, 2, 3])
  },
}))
