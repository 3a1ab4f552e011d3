import slotOf from 'cluster-key-slot'
import { type Charge, fixedWindow } from 'headgate'
import type { Cluster } from 'ioredis'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { chargeOne, keyedPolicies, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import type { ClusterNode, RedisCluster } from '../../support/servers/redis-cluster.js'
import { CLUSTER_DRIVERS, clusterStores } from './cluster-drivers.js'
import { type Load, startLoad } from './cluster-load.js'
import { flushAll, keysApart, masterOf, ownerOfKey, useCluster } from './connect-cluster.js'

const ample = fixedWindow({ limit: 10_000_000, window: LONG })

let cluster: RedisCluster
let client: Cluster

/** What is charged while a slot moves. */
const CHARGES: readonly [string, Charge][] = [
  ['one key of it', [part('hot', ample)]],
  ['a key of it and then one of another slot', [part('hot', ample), part('other', ample)]],
  ['two keys of it, which share a tag,', [part('ip:{hot}', ample), part('account:{hot}', ample)]],
  ['a key of another slot and then one of it', [part('other', ample), part('hot', ample)]],
]

/** Defines the tests of slots that move under load, for clients of some drivers, with the first of `CHARGES`. */
export function describeResharding(drivers: readonly string[], kinds: number = CHARGES.length): void {
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
        test.each(CHARGES.slice(0, kinds))(
          'charges of %s follow it, and are taken once each',
          async (_, charge) => {
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
          },
        )

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

      describe('a batch for many slots of a node', () => {
        test.each(['ASK', 'MOVED'])(
          'is decided once, even if the node answers %s for one of them',
          async (answer) => {
            const store = makeStore()
            const keys = keysApart(client, 'key', 60)
            const moved = keys[30] as string
            const ofOneNode = keys.filter((key) => masterOf(client, key) === masterOf(client, moved))
            expect(ofOneNode).toHaveLength(20)
            await store.charge(keys.map((key) => [part(key, ample)]))
            const [to, owner] = await otherAndOwner(moved)
            const move = await cluster.startMove(slotOf(moved), to)
            await move.migrateKeys()
            if (answer === 'MOVED') await move.finish()
            await expect(owner.cli('GET', moved)).rejects.toThrow(answer)
            for (let taken = 2; taken < 4; taken++) {
              const verdicts = await store.charge(keys.map((key) => [part(key, ample)]))
              expect(verdicts.map(({ parts }) => ample.limit - (parts[0]?.remaining ?? 0))).toEqual(
                keys.map(() => taken),
              )
            }
            expect(new Set(await remainingOf(store, ample, keys))).toEqual(new Set([ample.limit - 3]))
            await store.forget(keyedPolicies(ample, ...keys))
            expect(new Set(await remainingOf(store, ample, keys))).toEqual(new Set([ample.limit]))
            if (answer === 'ASK') await move.finish()
            await cluster.moveSlot(slotOf(moved), owner)
          },
        )
      })
    },
  )
}
