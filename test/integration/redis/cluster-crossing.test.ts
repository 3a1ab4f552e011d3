import slotOf from 'cluster-key-slot'
import type { Policy } from 'headgate'
import type { ChargeResult, PartResult } from 'headgate/store'
import type { Cluster } from 'ioredis'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { chargeOne, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import type { RedisCluster } from '../../support/servers/redis-cluster.js'
import { CLUSTER_DRIVERS, clusterStores } from './cluster-drivers.js'
import { countKeys, flushAll, keysApart, keysOfOneNode, masterOf, useCluster } from './connect-cluster.js'

/** How far apart two figures for one moment may be when they were read one after the other. */
const BUSY_MS = 1000

let cluster: RedisCluster
let client: Cluster

useCluster((...started) => {
  ;[cluster, client] = started
})

beforeEach(() => flushAll(client))

/** Keys of a charge for an address, an account and a device. */
const PLACEMENTS: readonly (readonly [string, () => string[]])[] = [
  ['on three nodes', () => keysApart(client, 'key', 3)],
  [
    'in three slots of two nodes',
    () => {
      const [ip, device] = keysOfOneNode(client, 'key')
      const account = keysApart(client, 'account', 2).find(
        (key) => masterOf(client, key) !== masterOf(client, ip),
      )
      return [ip, account ?? '', device]
    },
  ],
]

test.each(PLACEMENTS)('keys %s lie in different slots', (name, keysOf) => {
  const keys = keysOf()
  expect(new Set(keys.map((key) => slotOf(key))).size).toBe(3)
  expect(new Set(keys.map((key) => masterOf(client, key))).size).toBe(name.includes('three nodes') ? 3 : 2)
})

describe.each(CLUSTER_DRIVERS)('with a client of %s,', (driver, open) => {
  /** The second driver sends the same commands, so it charges by one policy. */
  const policies = driver === CLUSTER_DRIVERS[0]?.[0] ? LONG_POLICIES : LONG_POLICIES.slice(0, 1)

  const makeStore = clusterStores(() => cluster, open)

  describe.each(PLACEMENTS)('a charge of keys %s', (_placement, keysOf) => {
    describe.each(policies)('of a %s', (name, policyOf) => {
      const policy = policyOf(5)
      const charge = (...costs: number[]) => {
        const parts = keysOf().map((key, i) => part(key, policy, costs[i] ?? 1))
        return chargeOne(makeStore(), ...parts)
      }
      const left = () => remainingOf(makeStore(), policy, keysOf())

      test('takes every part if all allow', async () => {
        const verdict = await charge(1, 2, 5)
        expect(verdict.allowed).toBe(true)
        expect(verdict.parts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
          [true, 4],
          [true, 3],
          [true, 0],
        ])
        for (const { retryAfterMs, resetAfterMs } of verdict.parts) {
          expect(retryAfterMs).toBe(0)
          expect(resetAfterMs).toBeGreaterThan(0)
        }
        expect(await left()).toEqual([4, 3, 0])
      })

      test.each([
        ['first', 0],
        ['middle', 1],
        ['last', 2],
      ])('takes none if the %s one denies, and shows each unchanged', async (_which, at) => {
        const before = [1, 2, 3].map((taken, i) => (i === at ? 5 : taken))
        await charge(...before)
        const denying = await chargeOne(makeStore(), part(keysOf()[at] as string, policy, 2))
        const verdict = await charge(2, 2, 2)
        expectDenied(verdict, before, [at])
        expectSameRetry(verdict, verdict.parts[at], denying)
        if (name === 'consecutive') expect(verdict.parts[at]?.retryAfterMs).toBe(Number.POSITIVE_INFINITY)
        expect(await left()).toEqual(before.map((taken) => 5 - taken))
      })

      test('shows for each part whether it would deny alone', async () => {
        await charge(5, 1, 4)
        expectDenied(await charge(1, 1, 2), [5, 1, 4], [0, 2])
        expectDenied(await charge(0, 1, 2), [5, 1, 4], [2])
        expectDenied(await charge(0, 6, 1), [5, 1, 4], [1])
        expect(await charge(0, 4, 1)).toMatchObject({ allowed: true })
      })

      test('leaves no key behind if it denies and all keys were fresh', async () => {
        for (const costs of [
          [6, 1, 1],
          [1, 6, 1],
          [1, 1, 6],
        ]) {
          const { allowed, parts } = await charge(...costs)
          const shown = parts.map((each) => [each.allowed, each.remaining, each.resetAfterMs])
          expect(allowed).toBe(false)
          expect(shown).toEqual(costs.map((cost) => [cost !== 6, 5, 0]))
          expect(parts[costs.indexOf(6)]?.retryAfterMs).toBe(Number.POSITIVE_INFINITY)
        }
        expect(await left()).toEqual([5, 5, 5])
        // A bucket keeps what was refilled until the refund, which takes longer under a slower rate.
        if (name !== 'tokenBucket') expect(await countKeys(client)).toBe(0)
      })
    })

    test('may hold every policy, several for one key, and one key several times', async () => {
      const store = makeStore()
      const [ip = '', account = ''] = keysOf()
      const policies = LONG_POLICIES.map(([, policyOf], i) => policyOf(i + 2))
      const tagged = policies.map((_policy, i) => `{${ip}}:${i}`)
      const parts = policies.flatMap((policy, i) => [
        part(tagged[i] as string, policy),
        part(account, policies[3] as Policy),
      ])
      const verdict = await chargeOne(store, ...parts)
      expect(verdict.parts.map(({ remaining }) => remaining)).toEqual([1, 4, 2, 3, 3, 2, 4, 1])
      const denied = await chargeOne(store, ...parts)
      expect(denied.parts.map(({ allowed }) => allowed)).toEqual([
        true,
        true,
        true,
        false,
        true,
        false,
        true,
        false,
      ])
      expect(denied.parts.map(({ remaining }) => remaining)).toEqual([1, 1, 2, 1, 3, 1, 4, 1])
      const left = tagged.map((key, i) => remainingOf(store, policies[i] as Policy, [key]))
      expect((await Promise.all(left)).flat()).toEqual([1, 2, 3, 4])
    })
  })
})

/** Checks a verdict on a charge of keys of which so much was taken before, and which parts deny. */
function expectDenied(
  { allowed, parts }: ChargeResult,
  taken: readonly number[],
  denying: readonly number[],
): void {
  expect(allowed).toBe(false)
  expect(parts.map((each) => each.allowed)).toEqual(taken.map((_, i) => !denying.includes(i)))
  expect(parts.map((each) => each.remaining)).toEqual(taken.map((units) => 5 - units))
  for (const [i, { retryAfterMs }] of parts.entries()) {
    if (denying.includes(i)) expect(retryAfterMs).toBeGreaterThan(0)
    else expect(retryAfterMs).toBe(0)
  }
}

/** Checks that a part is allowed again at the moment at which a charge of its key alone is. */
function expectSameRetry({ atMs }: ChargeResult, got: PartResult | undefined, alone: ChargeResult): void {
  const aloneAtMs = alone.atMs + (alone.parts[0]?.retryAfterMs ?? 0)
  const gotAtMs = atMs + (got?.retryAfterMs ?? 0)
  if (gotAtMs !== aloneAtMs) expect(Math.abs(gotAtMs - aloneAtMs)).toBeLessThan(BUSY_MS)
}
