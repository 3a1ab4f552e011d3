import { ban } from '../../policies/ban.js'
import { fixedWindow } from '../../policies/fixed-window.js'
import { tokenBucket } from '../../policies/token-bucket.js'
import type { Charge, Operation, Reward, Take } from '../../stores/operation.js'
import { StoreError } from '../../stores/store-error.js'
import { expectEqual, expectMatch } from '../assertions.js'
import { LONG, LONG_KINDS } from './sample-policies.js'
import {
  allowedCount,
  applyAll,
  applyOne,
  chargeOne,
  expectTaken,
  forgetAll,
  keyedPolicies,
  part,
  receiptOf,
  refundAll,
  remainingOf,
  takeOne,
} from './store-calls.js'
import { casesOf, casesOfEach } from './store-case.js'

const operations = casesOfEach(LONG_KINDS, 'an operation on a %s', (policyOf) => ({
  'takes its units, or as many as are left': async ({ store }) => {
    const take = { type: 'take', key: 'key', policy: policyOf(5) } as const
    await takeOne(store, 'key', take.policy, 2)
    expectMatch('a take of 2', await applyOne(store, { ...take, units: 2 }), { taken: 2, remaining: 1 })
    expectMatch('a take of 2', await applyOne(store, { ...take, units: 2 }), { taken: 1, remaining: 0 })
    expectMatch('a take of 2', await applyOne(store, { ...take, units: 2 }), { taken: 0, remaining: 0 })
    await expectTaken(store, take.policy, ['key'], 5)
  },

  'creates its key, and no other': async ({ store }) => {
    const policy = policyOf(5)
    const result = await applyOne(store, { type: 'take', key: 'new', policy, units: 3 })
    expectMatch('a take of 3', result, { type: 'take', taken: 3, remaining: 2, bannedForMs: 0 })
    expectEqual('remaining', await remainingOf(store, policy, ['new', 'other']), [2, 5])
  },

  'only reads where it takes 0': async ({ store }) => {
    const policy = policyOf(5)
    await takeOne(store, 'key', policy, 2)
    const read = (key: string) => applyOne(store, { type: 'take', key, policy, units: 0 })
    expectMatch('a take of 0', await read('key'), { taken: 0, remaining: 3 })
    expectMatch('a take of 0', await read('new'), { taken: 0, remaining: 5, resetAfterMs: 0 })
    await expectTaken(store, policy, ['key'], 2)
  },

  'gives back its units, or as many as are taken': async ({ store }) => {
    const reward = { type: 'reward', key: 'key', policy: policyOf(5) } as const
    await takeOne(store, 'key', reward.policy, 5)
    expectMatch('a reward of 2', await applyOne(store, { ...reward, units: 2 }), { remaining: 2 })
    const fresh = { type: 'reward', remaining: 5, resetAfterMs: 0 }
    expectMatch('a reward of 9', await applyOne(store, { ...reward, units: 9 }), fresh)
    expectMatch('a reward of 1', await applyOne(store, { ...reward, key: 'new', units: 1 }), fresh)
    expectEqual('remaining', await remainingOf(store, reward.policy, ['key', 'new']), [5, 5])
    expectMatch('a charge above the limit', await takeOne(store, 'key', reward.policy, 6), { allowed: false })
  },

  'sees what those before it left': async ({ store }) => {
    const policy = policyOf(5)
    const results = await applyAll<Take | Reward>(store, [
      { type: 'take', key: 'a', policy, units: 4 },
      { type: 'take', key: 'b', policy, units: 3 },
      { type: 'reward', key: 'a', policy, units: 9 },
      { type: 'take', key: 'a', policy, units: 2 },
      { type: 'take', key: 'b', policy, units: 9 },
    ])
    const taken = results.map((result) => (result.type === 'take' ? result.taken : undefined))
    expectEqual('units taken', taken, [4, 3, undefined, 2, 2])
    expectEqual('remaining', await remainingOf(store, policy, ['a', 'b']), [3, 0])
  },

  'shares a batch with charges, refunds and forgetting, each of which sees what those before it left':
    async ({ store }) => {
      const policy = policyOf(5)
      const receipt = await receiptOf(store, 'a', policy, 3)
      const charge = (cost: number, ...keys: string[]): Charge => {
        return { type: 'charge', parts: keys.map((key) => part(key, policy, cost)) }
      }
      const results = await applyAll<Operation>(store, [
        charge(3, 'a'),
        { type: 'take', key: 'b', policy, units: 4 },
        receipt,
        charge(3, 'a'),
        charge(2, 'b'),
        { type: 'forget', key: 'b', policy },
        charge(2, 'b'),
        { type: 'reward', key: 'a', policy, units: 1 },
        { type: 'take', key: 'a', policy, units: 9 },
      ])
      const shown = results.map((result) => {
        if (result.type === 'charge') return result.allowed
        return result.type === 'take' ? result.taken : result.type
      })
      const expected = [false, 4, 'refund', true, false, 'forget', true, 'reward', 3]
      expectEqual('what each operation of the batch did', shown, expected)
      expectEqual('remaining', await remainingOf(store, policy, ['a', 'b']), [0, 3])
    },

  'can be refunded by the time in its result': async ({ store }) => {
    const taken = { key: 'key', policy: policyOf(5), cost: 3 }
    const { atMs, resetAfterMs } = await applyOne(store, { type: 'take', units: 3, ...taken })
    await refundAll(store, [{ ...taken, takenAtMs: atMs, resetAtMs: atMs + resetAfterMs }])
    expectEqual('remaining', await remainingOf(store, taken.policy, ['key']), [5])
  },

  'is forgotten': async ({ store }) => {
    const policy = policyOf(5)
    await applyOne(store, { type: 'take', key: 'key', policy, units: 5 })
    await forgetAll(store, [{ key: 'key', policy }])
    expectEqual('remaining', await remainingOf(store, policy, ['key']), [5])
  },

  'loses no concurrent charge and no concurrent operation': async ({ store }) => {
    const policy = policyOf(30)
    const takes = Array.from({ length: 12 }, () =>
      applyOne(store, { type: 'take', key: 'key', policy, units: 2 }),
    )
    const charges = Array.from({ length: 20 }, () => chargeOne(store, part('key', policy)))
    const verdicts = await Promise.all(charges)
    const taken = (await Promise.all(takes)).map((result) => result.taken)
    const sum = allowedCount(verdicts) + taken.reduce((all, units) => all + units, 0)
    expectEqual('at most the limit is taken', Math.min(sum, 30), sum)
    await expectTaken(store, policy, ['key'], sum)
  },
}))

const blocks = casesOf('a block', {
  'bans its key, with a fresh limit or an exhausted one, and never for less long': async ({ store }) => {
    const policy = ban(fixedWindow({ limit: 2, window: LONG }), {
      after: 3,
      within: LONG,
      for: [60_000, LONG],
    })
    const block = { type: 'block', key: 'key', policy } as const
    await takeOne(store, 'used', policy, 2)
    for (const key of ['key', 'used']) {
      const result = await applyOne(store, { ...block, key, forMs: 100_000 })
      expectMatch('a block', result, { type: 'block', remaining: 0, bannedForMs: 100_000 })
      expectMatch('a charge', await takeOne(store, key, policy, 1), { allowed: false })
    }
    await applyOne(store, { ...block, forMs: 1000 })
    const standing = await applyOne(store, { type: 'take', key: 'key', policy, units: 0 })
    expectEqual('a shorter block does not end the ban', standing.bannedForMs > 50_000, true)
    await forgetAll(store, [{ key: 'key', policy }])
    expectMatch('a charge of a forgotten key', await takeOne(store, 'key', policy, 1), { allowed: true })
  },
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
    const types = outcomes.map((outcome) => (outcome instanceof StoreError ? outcome.answered : outcome.type))
    const areKeptApart = types[0] === 'charge'
    const expected = areKeptApart ? ['charge', 'refund', 'reward', 'take'] : [true, true, true, true]
    expectEqual('each result, or whether the error is `answered`', types, [...expected, 'charge'])
    expectEqual('remaining of the other policy', await remainingOf(store, theirs, ['key']), [5])
    await forgetAll(store, keyedPolicies(policy, 'key'))
    expectEqual('remaining', await remainingOf(store, policy, ['key', 'other']), [5, 3])
  },
})

/** Operations other than charges: alone, in a batch with others, and beside concurrent ones. */
export const operationCases = [...operations, ...blocks, ...foreignKeys]
