import slotOf from 'cluster-key-slot'
import { fixedWindow } from 'headgate'
import type { Cluster } from 'ioredis'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { chargeOne, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import type { ClusterNode, RedisCluster } from '../../support/servers/redis-cluster.js'
import { CLUSTER_DRIVERS, clusterStores } from './cluster-drivers.js'
import { type Load, startLoad } from './cluster-load.js'
import { flushAll, ownerOfKey, useCluster } from './connect-cluster.js'

const ample = fixedWindow({ limit: 10_000_000, window: LONG })

let cluster: RedisCluster
let client: Cluster

/** What is charged while a slot moves. */
const CHARGES: readonly [string, Parts][] = [
  ['one key of it', [part('hot', ample)]],
  ['a key of it and then one of another slot', [part('hot', ample), part('other', ample)]],
  ['two keys of it, which share a tag,', [part('ip:{hot}', ample), part('account:{hot}', ample)]],
  ['a key of another slot and then one of it', [part('other', ample), part('hot', ample)]],
]

/** Defines the tests of slots that move under load, for clients of some drivers. */
export function describeResharding(drivers: readonly string[]): void {
  useCluster((...started) => {
    ;[cluster, client] = started
  })

  beforeEach(() => flushAll(client))

  /** A master that does not serve the key's slot, and the one that does. */
  async function otherAndOwner(key: string): Promise<[other: ClusterNode, owner: ClusterNode]> {
    const owner = await ownerOfKey(cluster, key)
    return [cluster.nodes.find((node) => node !== owner) as ClusterNode, owner]
  }

  /** Moves a slot in steps, with load before, between and after them. */
  async function moveUnder(load: Load, slot: number, to: ClusterNode): Promise<void> {
    await load.goesOn()
    const move = await cluster.startMove(slot, to)
    await load.goesOn()
    await move.migrateKeys()
    await load.goesOn()
    await move.finish()
    await load.goesOn()
  }

  describe.each(CLUSTER_DRIVERS.filter(([driver]) => drivers.includes(driver)))(
    'with a client of %s,',
    (_driver, open) => {
      const makeStore = clusterStores(() => cluster, open)

      describe('while a slot moves there and back under load', () => {
        test.each(CHARGES)('charges of %s follow it, and are taken once each', async (_, charge) => {
          const store = makeStore()
          await chargeOne(store, ...charge) // a script with several keys can wait for a moving slot where none is missing
          const load = startLoad(store, [charge])
          for (const to of await otherAndOwner('hot')) await moveUnder(load, slotOf('hot'), to)
          await load.end()
          expect([...new Set(load.errors.map(String))]).toEqual([])
          expect(load.allowed).toEqual([load.answered])
          const left = ample.limit - 1 - load.answered
          const keys = charge.map(({ key }) => key)
          expect(await remainingOf(store, ample, keys)).toEqual(keys.map(() => left))
        })

        test('the limit of one of its keys is reached exactly', async () => {
          const store = makeStore()
          const policy = fixedWindow({ limit: 5000, window: LONG })
          let allowed = 0
          const charge1000 = async () => {
            const callers = Array.from({ length: 100 }, async () => {
              for (let i = 0; i < 10; i++)
                if ((await chargeOne(store, part('hot', policy))).allowed) allowed++
            })
            await Promise.all(callers)
          }
          for (const to of await otherAndOwner('hot')) {
            const [move] = await Promise.all([cluster.startMove(slotOf('hot'), to), charge1000()])
            await Promise.all([move.migrateKeys(), charge1000()])
            await Promise.all([move.finish(), charge1000()])
          }
          expect(allowed).toBe(5000)
          expect(await remainingOf(store, policy, ['hot'])).toEqual([0])
        })
      })
    },
  )
}
