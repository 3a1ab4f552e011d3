import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import {
  allowedCount,
  keyedPolicies,
  part,
  remainingOf,
} from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import { expiriesOn } from './items.js'
import { expectLeft, useMemcached } from './use-memcached.js'

const memcached = useMemcached()

describe.each(LONG_POLICIES)('with a %s', (_, policyOf) => {
  test('5,000 charges of one key in one tick are counted exactly', async () => {
    const policy = policyOf(1000)
    const calls = Array.from({ length: 5000 }, () => chargeStore(memcached.store, [[part('hot', policy)]]))
    expect(allowedCount((await Promise.all(calls)).flat())).toBe(1000)
    await expectLeft(memcached.store, policy, ['hot'], [0])
  })

  test('1,000 charges of as many keys in one call are counted once each, refunded and forgotten', async () => {
    const policy = policyOf(5)
    const keys = Array.from({ length: 1000 }, (_each, i) => `key-${i}`)
    const verdicts = await chargeStore(
      memcached.store,
      keys.map((key) => [part(key, policy, 3)]),
    )
    expect(verdicts.filter(({ parts }) => parts[0]?.remaining !== 2)).toEqual([])
    await refundStore(
      memcached.store,
      keys.map((key, i) => ({ ...part(key, policy), takenAtMs: verdicts[i]?.atMs ?? 0 })),
    )
    expect(new Set(await remainingOf(memcached.store, policy, keys))).toEqual(new Set([3]))
    await forgetStore(memcached.store, keyedPolicies(policy, ...keys))
    expect((await expiriesOn(memcached.server)).size).toBe(0)
  })
})
