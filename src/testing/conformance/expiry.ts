import { consecutive } from '../../policies/consecutive.js'
import { expectEqual, expectMatch, expectPositive } from '../assertions.js'
import { asModel, operationsOf } from './as-model.js'
import { SHORT_KINDS } from './sample-policies.js'
import { chargeAll, figures, freshFigures, part, receiptOf, refundAll, takeOne } from './store-calls.js'
import { type Bodies, casesOf, casesOfEach, type StoreCase } from './store-case.js'
import type { Capabilities } from './store-under-test.js'

const TEN_YEARS_MS = 10 * 365 * 24 * 3600 * 1000

const ofEachPolicy = ({ settableClock }: Capabilities) =>
  casesOfEach(SHORT_KINDS, 'in time, a %s', (policyOf) => {
    const toTheMillisecond: Bodies = {
      'denies the same cost 1 ms before retryAfterMs, and is not fresh 1 ms before resetAfterMs': async ({
        store,
        advance,
      }) => {
        const policy = policyOf(3)
        await takeOne(store, 'key', policy, 3)
        const { retryAfterMs, resetAfterMs } = await takeOne(store, 'key', policy, 2)
        await advance(retryAfterMs - 1)
        const early = await takeOne(store, 'key', policy, 2)
        expectMatch('1 ms before retryAfterMs', early, { allowed: false, retryAfterMs: 1 })
        await advance(resetAfterMs - retryAfterMs)
        expectMatch('1 ms before resetAfterMs', await takeOne(store, 'key', policy, 0), { resetAfterMs: 1 })
      },
    }

    return {
      'is fresh again after resetAfterMs': async ({ store, advance }) => {
        const policy = policyOf(3)
        const { resetAfterMs } = await takeOne(store, 'key', policy, 3)
        expectPositive('resetAfterMs at the limit', resetAfterMs)
        await advance(resetAfterMs)
        const peek = await takeOne(store, 'key', policy, 0)
        expectEqual('a peek after resetAfterMs', figures(peek), freshFigures(3))
        const whole = await takeOne(store, 'key', policy, 3)
        expectMatch('a charge of the whole limit', whole, { allowed: true, remaining: 0 })
      },

      'allows the same cost after retryAfterMs': async ({ store, advance }) => {
        const policy = policyOf(3)
        const [taken, denied] = await chargeAll(store, [[part('key', policy, 3)], [part('key', policy, 2)]])
        expectMatch('a charge of the whole limit', taken, { allowed: true })
        expectMatch('a charge of 2 more', denied, { allowed: false, parts: [{ remaining: 0 }] })
        const retryAfterMs = denied?.parts[0]?.retryAfterMs as number
        expectPositive('retryAfterMs of the denial', retryAfterMs)
        await advance(retryAfterMs)
        expectMatch('after retryAfterMs', await takeOne(store, 'key', policy, 2), { allowed: true })
      },

      'ignores a refund to a key that is fresh again': async ({ store, advance }) => {
        const policy = policyOf(3)
        const receipt = await receiptOf(store, 'key', policy, 3)
        await advance((receipt.resetAtMs as number) - receipt.takenAtMs)
        await refundAll(store, [receipt])
        const above = await takeOne(store, 'key', policy, 4)
        expectMatch('a charge above the limit', above, { allowed: false, remaining: 3 })
        const whole = await takeOne(store, 'key', policy, 3)
        expectMatch('a charge of the whole limit', whole, { allowed: true, remaining: 0 })
      },

      'shows the figures of the policy all the way until it is fresh again': asModel(
        ...[2, 0, 1, 1, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0].flatMap((cost) => [
          operationsOf(policyOf(3)).charge(cost),
          { type: 'advance', ms: 30 } as const,
        ]),
      ),

      ...(settableClock && toTheMillisecond),
    }
  })

const ofConsecutive = ({ settableClock }: Capabilities) =>
  casesOf('', {
    'time alone never frees a consecutive limit': async ({ store, advance }) => {
      const policy = consecutive({ limit: 3 })
      await takeOne(store, 'key', policy, 3)
      await advance(settableClock ? TEN_YEARS_MS : 1500)
      const never = { allowed: false, remaining: 0, retryAfterMs: Number.POSITIVE_INFINITY }
      expectMatch('a charge later', await takeOne(store, 'key', policy), never)
    },
  })

/**
 * What time does: a state is fresh again after `resetAfterMs`, and the same cost is allowed after
 * `retryAfterMs`.
 */
export function expiryCases(capabilities: Capabilities): StoreCase[] {
  return [...ofEachPolicy(capabilities), ...ofConsecutive(capabilities)]
}
