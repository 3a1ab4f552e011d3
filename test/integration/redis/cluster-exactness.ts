import { join } from 'node:path'
import slotOf from 'cluster-key-slot'
import { redisStore } from 'headgate/redis'
import type { Cluster } from 'ioredis'
import { stateIn } from '../../../src/stores/redis/stored-state.js'
import { chargeOne, expectTaken, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { type Children, startChildren } from '../../support/servers/children.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import type { RedisCluster } from '../../support/servers/redis-cluster.js'
import { flushAll, keysApart, useCluster } from './connect-cluster.js'
import { type Counts, type Order, POLICIES } from './exactness-child.js'

const EACH = 5

type PolicyName = keyof typeof POLICIES

/** The drivers of the processes, and the policies that they charge by: all have the same scripts. */
type Fleets = readonly (readonly [driver: string, policies: readonly PolicyName[]])[]

export const ALL_FLEETS: Fleets = [
  ['ioredis 6', Object.keys(POLICIES) as PolicyName[]],
  ['redis 6', ['tokenBucket', 'consecutive']],
]

/** Defines the tests of so many processes that share a Cluster, each with so many callers. */
export function describeClusterExactness(fleets: Fleets, processes: number, callers: number): void {
  let cluster: RedisCluster
  let client: Cluster
  const sent = processes * callers * EACH
  const quarter = sent / 4

  useCluster((...started) => {
    ;[cluster, client] = started
  })

  beforeEach(() => flushAll(client))

  describe.each(fleets)('with clients of %s,', (driver, policies) => {
    let children: Children

    beforeAll(async () => {
      const urls = cluster.nodes.map(({ url }) => url)
      children = await startChildren(join(__dirname, 'exactness-child.ts'), processes, [driver, ...urls])
      await chargeInAll([], 0) // all are there
    }, INSTALL_TIMEOUT_MS)

    afterAll(() => children?.end())

    /**
     * Has all processes charge at the same time, every other one with the parts in reverse. Returns how many
     * were allowed.
     */
    async function chargeInAll(parts: Order['parts'], each = EACH): Promise<number> {
      const counts = await children.ask<Counts>((i): Order => {
        return { parts: i % 2 === 0 ? parts : parts.toReversed(), callers, each }
      })
      expect(counts.map(({ allowed, denied }) => allowed + denied)).toEqual(
        Array(processes).fill(callers * each),
      )
      return counts.reduce((sum, { allowed }) => sum + allowed, 0)
    }

    describe.each([...policies])(`${processes} processes of ${callers} callers, with a %s,`, (policy) => {
      const ofLimit = (limit: number) => (key: string) => ({ key, policy, limit })

      test('take exactly the limit of one key', async () => {
        expect(await chargeInAll([ofLimit(quarter)('hot')])).toBe(quarter)
        expect(await remainingOf(redisStore(client), POLICIES[policy](quarter), ['hot'])).toEqual([0])
      })

      test('take exactly the limit of two keys that share a hash tag', async () => {
        const limits = { 'ip:{client}': quarter, 'account:{client}': quarter + 50 }
        const parts = Object.entries(limits).map(([key, limit]) => ofLimit(limit)(key))
        expect(await chargeInAll(parts)).toBe(quarter)
        const store = redisStore(client)
        const left = parts.map(({ key, limit }) => remainingOf(store, POLICIES[policy](limit), [key]))
        expect((await Promise.all(left)).flat()).toEqual([0, 50])
      })

      test.each([
        [quarter, EACH],
        [sent / EACH / 2, 1],
      ])(
        'never take more than %d of two keys in different slots, and finally exactly the allowed units',
        async (limit, each) => {
          const keys = keysApart(client, 'client', 2)
          expect(new Set(keys.map((key) => slotOf(key))).size).toBe(2)
          const allowed = await chargeInAll(keys.map(ofLimit(limit)), each)
          expect(allowed).toBeLessThanOrEqual(limit)
          await expectTaken(redisStore(client), POLICIES[policy](limit), keys, allowed)
        },
      )
    })
  })

  describe.each([
    ['ample', 100_000],
    ['scarce', 2.5 * callers],
  ])(`${callers} callers whose charges share a key that is %s`, (_, limit) => {
    const shared = POLICIES.fixedWindow(limit)
    const own = POLICIES.fixedWindow(5)

    /** What lies in Redis, where a count above the limit would show. */
    const taken = async () => stateIn((await client.getBuffer('shared')) ?? Buffer.alloc(0))?.[0] ?? 0

    test('exceed it by at most their costs for a moment, and refund all of that', async () => {
      const store = redisStore(client)
      const accounts = keysApart(client, 'account', callers)
      const allowed = accounts.map(() => 0)
      const admitted = () => allowed.reduce((sum, units) => sum + units)
      const samples: { before: number; taken: number; after: number }[] = []
      let isDone = false
      const calls = accounts.map(async (account, caller) => {
        const parts = [part('shared', shared), part(account, own)]
        for (let i = 0; i < 20; i++) {
          const verdict = await chargeOne(store, ...(caller % 2 === 0 ? parts : parts.toReversed()))
          if (verdict.allowed) allowed[caller] = (allowed[caller] ?? 0) + 1
        }
      })
      const sampling = (async () => {
        while (!isDone) samples.push({ before: admitted(), taken: await taken(), after: admitted() })
      })()
      await Promise.all(calls).finally(() => {
        isDone = true
      })
      await sampling
      expect(samples.length).toBeGreaterThan(10)
      expect(samples.filter((one) => one.taken < one.before || one.taken > one.after + callers)).toEqual([])
      expect(samples.filter((one) => one.taken > limit)).toEqual([])
      expect(admitted()).toBeLessThanOrEqual(Math.min(limit, 5 * callers))
      expect(await taken()).toBe(admitted())
      expect(await remainingOf(store, own, accounts)).toEqual(allowed.map((units) => 5 - units))
      if (limit > 5 * callers) expect(admitted()).toBe(5 * callers)
    })
  })
}
