import { setTimeout as pause } from 'node:timers/promises'
import { consecutive, fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { signatureOf } from '../../../src/policies/policy.js'
import { stateItemIn } from '../../../src/stores/memcached/state-item.js'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { chargeOne, part, receiptOf, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, refundStore, takeOne } from '../../support/store-calls.js'
import { expiriesOn, itemOf } from './items.js'
import { useMemcached } from './use-memcached.js'

const DAY_MS = 86_400_000
/** The flags of a state. */
const STATE = 0x68670001
/** memcached's clock ticks once a second, and a test may take a while. */
const SLACK_S = 6

const memcached = useMemcached()

describe('in memcached,', () => {
  test('a counter is the digits of its count, one for each slice, named in its key', async () => {
    const fixed = fixedWindow({ limit: 50, window: '1000d' })
    const sliding = slidingWindow({ limit: 50, window: '1000d', slices: 10 })
    for (const policy of [fixed, sliding, consecutive({ limit: 50 })])
      await takeOne(memcached.store, policy.spec.kind, policy, 12)
    const days = Math.floor(Date.now() / DAY_MS)
    const keys = [
      `fixed-window:${Math.floor(days / 1000)}`,
      `sliding-window:${Math.floor(days / 100)}`,
      'consecutive',
    ]
    expect([...(await expiriesOn(memcached.server)).keys()].sort()).toEqual(keys.sort())
    for (const key of keys) {
      const item = await itemOf(memcached.server, memcached.client, key)
      expect([item?.value.toString(), item?.flags]).toEqual(['12', 0])
    }
  })

  test('a bucket is the doubles of its state and when it expires, with flags of its own', async () => {
    const policy = tokenBucket({ capacity: 50, refill: 50, every: '1000d' })
    const receipt = await receiptOf(memcached.store, 'bucket', policy, 12)
    const item = await itemOf(memcached.server, memcached.client, 'bucket')
    const { state, expiresAtMs = 0 } = stateItemIn(item?.value ?? Buffer.of()) ?? {}
    expect([state, item?.flags]).toEqual([[12, receipt.takenAtMs], STATE])
    expect(Math.abs(Number(item?.expiresAtS) - expiresAtMs / 1000)).toBeLessThan(SLACK_S)
  })

  test('a refund of units that were taken under a faster rate keeps the expiry of an item', async () => {
    const [fast, slow] = ['1h', '1000d'].map((every) => tokenBucket({ capacity: 50, refill: 50, every }))
    if (!fast || !slow) throw new Error('there are two rates')
    const other = memcachedStore(memcached.open()) // it has not written the item
    const receipt = await receiptOf(other, 'bucket', fast, 1)
    await takeOne(memcached.store, 'bucket', slow, 10)
    const before = await itemOf(memcached.server, memcached.client, 'bucket')
    for (const store of [memcached.store, other]) {
      await refundStore(store, [receipt])
      const after = await itemOf(memcached.server, memcached.client, 'bucket')
      expect(after?.value).not.toEqual(before?.value)
      expect(after?.expiresAtS).toBeGreaterThanOrEqual(Number(before?.expiresAtS))
    }
  })

  test('denials and peeks store nothing for a fresh key', async () => {
    for (const [, policyOf] of LONG_POLICIES) {
      const policy = policyOf(5)
      await chargeStore(memcached.store, [
        [part(`a-${policy.spec.kind}`, policy, 0)],
        [part(`b-${policy.spec.kind}`, policy, 6)],
      ])
    }
    expect((await expiriesOn(memcached.server)).size).toBe(0)
  })
})

/** Windows on both sides of 30 days, where memcached begins to read an expiry as a moment. */
const EXPIRING: readonly Policy[] = ['1s', '1h', '29d', '30d', '31d', '10y'].flatMap((every) => [
  tokenBucket({ capacity: 5, refill: 5, every }),
  slidingWindow({ limit: 5, window: every }),
  slidingWindow({ limit: 5, window: every, slices: 1 }),
  fixedWindow({ limit: 5, window: every }),
])

test.each(EXPIRING.map((policy) => [signatureOf(policy), policy] as const))(
  'an item expires soon after it no longer counts, and not before: %s',
  async (_, policy) => {
    await until('no window ends soon', () => Date.now() % 1000 < 500)
    const { atMs, parts } = await chargeOne(memcached.store, part('key', policy, 5))
    const [[, expiresAtS] = ['', Number.NaN]] = await expiriesOn(memcached.server)
    const freshAtS = (atMs + (parts[0]?.resetAfterMs ?? 0)) / 1000
    const { spec } = policy
    const slackS = spec.kind === 'sliding-window' ? spec.windowMs / spec.slices / 1000 : 0
    expect(expiresAtS).toBeGreaterThanOrEqual(Math.floor(freshAtS))
    expect(expiresAtS).toBeLessThanOrEqual(freshAtS + slackS + SLACK_S)
    const left = await remainingOf(memcachedStore(memcached.open()), policy, ['key'])
    const unitBackAtMs = atMs + (parts[0]?.resetAfterMs ?? 0) / 5 // of a bucket
    if (Date.now() < unitBackAtMs) expect(left).toEqual([0])
  },
)

test('an item without an end does not expire', async () => {
  await takeOne(memcached.store, 'key', consecutive({ limit: 5 }))
  expect(await expiriesOn(memcached.server)).toEqual(new Map([['key', 0]]))
})

test('nothing is forgotten early, at any moment of a short window', async () => {
  const policies = [
    tokenBucket({ capacity: 5, refill: 5, every: 1500 }),
    slidingWindow({ limit: 5, window: 1500, slices: 3 }),
    slidingWindow({ limit: 5, window: 2000, slices: 1 }),
    fixedWindow({ limit: 5, window: 2000 }),
  ]
  const keys = Array.from({ length: 8 }, (_, i) => `key-${i}`)
  const charged: { key: string; policy: Policy; untilMs: number }[] = []
  for (const key of keys) {
    for (const policy of policies) {
      const { atMs, parts } = await chargeOne(
        memcached.store,
        part(`${key}:${policy.name}:${policy.spec.kind}`, policy, 5),
      )
      charged.push({
        key: `${key}:${policy.name}:${policy.spec.kind}`,
        policy,
        untilMs: atMs + (parts[0]?.resetAfterMs ?? 0),
      })
    }
    await pause(130)
  }
  for (let open = charged; open.length > 0; open = open.filter(({ untilMs }) => untilMs > Date.now())) {
    // Another process knows nothing but what lies in the server.
    const other = memcachedStore(memcached.client)
    const verdicts = await chargeStore(
      other,
      open.map(({ key, policy }) => [part(key, policy, 0)]),
    )
    verdicts.forEach(({ atMs, parts }, i) => {
      const { key, untilMs } = open[i] as (typeof open)[number]
      expect({ key, isFresh: parts[0]?.resetAfterMs === 0 && atMs < untilMs }).toEqual({
        key,
        isFresh: false,
      })
    })
    await pause(20)
  }
})
