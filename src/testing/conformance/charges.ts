import { fixedWindow } from '../../policies/fixed-window.js'
import { expectAtMost, expectEqual, expectMatch, expectPositive } from '../assertions.js'
import { LONG, LONG_KINDS } from './sample-policies.js'
import {
  allowedOf,
  chargeAll,
  expectFigures,
  figures,
  freshFigures,
  part,
  remainingOf,
  takeOne,
} from './store-calls.js'
import { casesOf, casesOfEach } from './store-case.js'

const ofEachPolicy = casesOfEach(LONG_KINDS, 'one charge of a %s', (policyOf) => ({
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

/** Of a counter of 32 bits, the largest number in a structured header (RFC 9651 §3.3.1), the largest limit. */
const LARGE_LIMITS = [2 ** 31 - 1, 10 ** 15 - 1, Number.MAX_SAFE_INTEGER]

const ofLargeLimits = casesOf('', {
  'a fixedWindow from the first request counts exactly up to the largest limits': async ({ store }) => {
    for (const limit of LARGE_LIMITS) {
      const policy = fixedWindow({ limit, window: LONG, startsAt: 'first-request' })
      const key = `of-${limit}`
      const most = await takeOne(store, key, policy, limit - 1)
      expectMatch(`all but one unit of ${limit}`, most, { allowed: true, remaining: 1 })
      const steps = await chargeAll(store, [[part(key, policy)], [part(key, policy)]])
      expectEqual('the last unit and one more: allowed', allowedOf(steps), [true, false])
      const above = await takeOne(store, key, policy, limit)
      expectMatch('as many once more', above, { allowed: false, remaining: 0 })
      expectAtMost('retryAfterMs, of a window of 1000 days', above.retryAfterMs, 1000 * 86_400_000)
    }
  },
})

/** Charges of one part: the limit, the figures, and what is never written. */
export const chargeCases = [...ofEachPolicy, ...ofLargeLimits]
