import { consecutive, fixedWindow, type Policy, slidingWindow } from 'headgate'
import type { Part } from 'headgate/store'
import { LONG, LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { allowedCount, chargeOne, part, receiptOf } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, refundStore, takeOne } from '../../support/store-calls.js'
import { expectLeft, useMemcached } from './use-memcached.js'

const MOST = Number.MAX_SAFE_INTEGER

const memcached = useMemcached()

describe.each(LONG_POLICIES)('an invalid cost, with a %s', (_, policyOf) => {
  const policy = policyOf(5)
  const wrong = (key: string, cost: unknown): Part => ({ key, policy, cost: cost as number })

  test.each<[string, unknown]>([
    ['NaN', Number.NaN],
    ['a negative number', -1],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['more than a safe integer', 2 ** 53],
    ['a fraction', 1.5],
    ['a text', '2'],
    ['null', null],
    ['undefined', undefined],
    ['true', true],
    ['a list', [2]],
    ['a bigint', 2n],
  ])('is an error, and takes nothing from any key: %s', async (_name, cost) => {
    await takeOne(memcached.store, 'held', policy, 2)
    for (const charges of [
      [[wrong('held', cost)]],
      [[part('held', policy)], [wrong('new', cost)], [part('late', policy)]],
      [[part('held', policy), part('new', policy), wrong('late', cost)]],
    ]) {
      await expect(chargeStore(memcached.store, charges)).rejects.toThrow(TypeError)
      await expect(chargeStore(memcached.store, charges)).rejects.toThrow(
        /memcachedStore: a cost must be a whole number/,
      )
    }
    const good = Array.from({ length: 4 }, () => chargeStore(memcached.store, [[part('held', policy)]]))
    const bad = chargeStore(memcached.store, [[wrong('held', cost)]])
    const outcomes = await Promise.allSettled([...good.slice(0, 2), bad, ...good.slice(2)])
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, true])
    expect(allowedCount((await Promise.all(good)).flat())).toBe(3)
    await expectLeft(memcached.store, policy, ['held', 'new', 'late'], [0, 5, 5])
  })
})

describe.each<[string, Policy]>([
  ['fixedWindow', fixedWindow({ limit: MOST, window: LONG })],
  ['slidingWindow', slidingWindow({ limit: MOST, window: LONG })],
  ['consecutive', consecutive({ limit: MOST })],
])('the largest limit, with a %s', (_, policy) => {
  test('is counted exactly to the last unit', async () => {
    expect(await takeOne(memcached.store, 'key', policy, MOST - 3)).toMatchObject({
      allowed: true,
      remaining: 3,
    })
    expect(await takeOne(memcached.store, 'key', policy, 4)).toMatchObject({ allowed: false, remaining: 3 })
    await expectLeft(memcached.store, policy, ['key'], [3])
    for (const remaining of [2, 1, 0]) {
      expect(await takeOne(memcached.store, 'key', policy)).toMatchObject({ allowed: true, remaining })
    }
    expect(await takeOne(memcached.store, 'key', policy)).toMatchObject({ allowed: false, remaining: 0 })
    await expectLeft(memcached.store, policy, ['key'], [0])
  })

  test('is refunded exactly', async () => {
    const receipt = await receiptOf(memcached.store, 'key', policy, MOST)
    await refundStore(memcached.store, [{ ...receipt, cost: 1 }])
    expect((await chargeOne(memcached.store, part('key', policy, 0))).parts[0]?.remaining).toBe(1)
    await refundStore(memcached.store, [{ ...receipt, cost: MOST - 1 }])
    expect((await chargeOne(memcached.store, part('key', policy, 0))).parts[0]?.remaining).toBe(MOST)
  })
})
