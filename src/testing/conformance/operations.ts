import { ban } from '../../policies/ban.js'
import { fixedWindow } from '../../policies/fixed-window.js'
import { tokenBucket } from '../../policies/token-bucket.js'
import { StoreError } from '../../stores/store-error.js'
import { expectEqual } from '../assertions.js'
import { asModel, operationsOf, refund } from './as-model.js'
import { LONG, LONG_KINDS } from './sample-policies.js'
import {
  allowedCount,
  applyOne,
  chargeOne,
  expectTaken,
  forgetAll,
  keyedPolicies,
  part,
  receiptOf,
  remainingOf,
} from './store-calls.js'
import { casesOf, casesOfEach } from './store-case.js'

const operations = () =>
  casesOfEach(LONG_KINDS, 'an operation on a %s', (policyOf) => {
    const { charge, take, reward, forget } = operationsOf(policyOf(5))
    return {
      'takes its units, or as many as are left': asModel(charge(2), take(2), take(2), take(2), charge()),
      'creates its key, and no other': asModel(take(3, 'new'), charge(0, 'new'), charge(0, 'other')),
      'only reads if it takes 0': asModel(charge(2), take(0), take(0, 'new'), charge(3), charge()),
      'gives back its units, or as many as are taken': asModel(
        ...[charge(5), reward(2), reward(9), reward(1, 'new')],
        ...[charge(0), charge(0, 'new'), charge(6), charge(5), charge()],
      ),
      'sees what those before it left': asModel(
        [take(4, 'a'), take(3, 'b'), reward(9, 'a'), take(2, 'a'), take(9, 'b')],
        ...[charge(0, 'a'), charge(0, 'b')],
      ),
      'shares a batch with charges, refunds and forgetting, each of which sees what those before it left':
        asModel(
          charge(3, 'a'),
          ([receipt = forget('a')]) => [
            ...[charge(3, 'a'), take(4, 'b'), receipt, charge(3, 'a'), charge(2, 'b')],
            ...[forget('b'), charge(2, 'b'), reward(1, 'a'), take(9, 'a')],
          ],
          ...[charge(0, 'a'), charge(0, 'b')],
        ),
      'can be refunded by the time in its result': asModel(take(3), refund(), charge(0), charge(5)),
      'is forgotten': asModel(take(5), forget(), charge(0)),

      'loses no concurrent charge and no concurrent operation': async ({ store }) => {
        const policy = policyOf(30)
        const takes = Array.from({ length: 12 }, () => applyOne(store, operationsOf(policy).take(2)))
        const charges = Array.from({ length: 20 }, () => chargeOne(store, part('key', policy)))
        const verdicts = await Promise.all(charges)
        const units = (await Promise.all(takes)).map((result) => result.taken)
        const sum = units.reduce((total, each) => total + each, allowedCount(verdicts))
        expectEqual('at most the limit is taken', Math.min(sum, 30), sum)
        await expectTaken(store, policy, ['key'], sum)
      },
    }
  })

const BAN = ban(fixedWindow({ limit: 2, window: LONG }), { after: 3, within: LONG, for: [60_000, LONG] })
const { charge, take, block, forget } = operationsOf(BAN)

const blocks = casesOf('a block', {
  'bans its key, with a fresh limit or an exhausted one, and never for less long': asModel(
    ...[block(100_000), charge(), charge(2, 'used'), block(100_000, 'used'), charge(1, 'used')],
    ...[block(1000), take(0), forget(), charge()],
  ),
})

const foreignKeys = casesOf('on a key that another policy uses,', {
  'each operation fails alone and changes nothing, or finds the key fresh; a forget removes it': async ({
    store,
  }) => {
    const theirs = ban(tokenBucket({ capacity: 9, refill: 9, every: LONG }), {
      after: 5,
      within: LONG,
      for: LONG,
    })
    const policy = tokenBucket({ capacity: 5, refill: 5, every: LONG })
    const units = {
      key: 'key',
      policy,
      cost: 2,
      takenAtMs: (await receiptOf(store, 'key', theirs, 4)).takenAtMs,
    }
    const outcomes = await store.apply([
      { type: 'charge', parts: [part('key', policy, 0)] },
      { type: 'refund', ...units },
      { type: 'reward', ...units, units: 0 },
      { type: 'take', ...units, units: 0 },
      { type: 'charge', parts: [part('other', policy, 2)] },
    ])
    const types = outcomes.map((outcome) => (outcome instanceof StoreError ? outcome.replied : outcome.type))
    const areKeptApart = types[0] === 'charge'
    const expected = areKeptApart ? ['charge', 'refund', 'reward', 'take'] : [true, true, true, true]
    expectEqual('each result, or whether the error is `replied`', types, [...expected, 'charge'])
    expectEqual('remaining of the other policy', await remainingOf(store, theirs, ['key']), [5])
    await forgetAll(store, keyedPolicies(policy, 'key'))
    expectEqual('remaining', await remainingOf(store, policy, ['key', 'other']), [5, 3])
  },
})

/** Operations other than charges: alone, in a batch with others, and beside concurrent ones. */
export const operationCases = () => [...operations(), ...blocks, ...foreignKeys]
