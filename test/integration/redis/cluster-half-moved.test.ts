import slotOf from 'cluster-key-slot'
import { fixedWindow, type Store } from 'headgate'
import type { Cluster } from 'ioredis'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { chargeOne, keyedPolicies, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import type { ClusterNode, RedisCluster, SlotMove } from '../../support/servers/redis-cluster.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import { CLUSTER_DRIVERS, clusterStores } from './cluster-drivers.js'
import { flushAll, keysApart, masterOf, ownerOfKey, useCluster } from './connect-cluster.js'
import { rejection } from './outcomes.js'

const policy = fixedWindow({ limit: 10, window: LONG })

let cluster: RedisCluster
let client: Cluster
let store: Store
let move: SlotMove

useCluster((...started) => {
  ;[cluster, client] = started
})

/** The master of a key's slot, and another one. */
async function ownerAndOther(key: string): Promise<[owner: ClusterNode, other: ClusterNode]> {
  const owner = await ownerOfKey(cluster, key)
  return [owner, cluster.nodes.find((node) => node !== owner) as ClusterNode]
}

describe.each(CLUSTER_DRIVERS)('with a client of %s,', (driver, open) => {
  const makeStore = clusterStores(() => cluster, open)

  describe('a slot of which some keys have moved', () => {
    /**
     * Takes 1 of {tag}:here and 2 of {tag}:there, and begins to move their slot: only {tag}:there has gone.
     */
    beforeEach(async () => {
      await flushAll(client)
      store = makeStore()
      await chargeStore(store, [[part('{tag}:here', policy)], [part('{tag}:there', policy, 2)]])
      const [owner, to] = await ownerAndOther('{tag}')
      move = await cluster.startMove(slotOf('{tag}'), to)
      await owner.cli('MIGRATE', to.host, to.port, '', 0, 5000, 'KEYS', '{tag}:there')
    })

    afterEach(async () => {
      await move.migrateKeys()
      await move.finish()
    })

    /** How much is left of each key, by one peek after the other. */
    async function left(...keys: string[]): Promise<(number | undefined)[]> {
      const remaining: (number | undefined)[] = []
      for (const key of keys) remaining.push(...(await remainingOf(store, policy, [key])))
      return remaining
    }

    test('a charge of a key in a half-moved slot is decided, wherever the key is', async () => {
      for (const [key, remaining] of [
        ['{tag}:here', 8],
        ['{tag}:there', 7],
        ['{tag}:new', 9],
      ] as const) {
        expect((await chargeOne(store, part(key, policy))).parts[0]?.remaining).toBe(remaining)
      }
      expect(await left('{tag}:here', '{tag}:there', '{tag}:new')).toEqual([8, 7, 9])
    })

    test.each([
      ['one here and one there', ['{tag}:here', '{tag}:there'], [8, 7]],
      ['one here and a new one', ['{tag}:here', '{tag}:new'], [8, 9]],
      ['one there and a new one', ['{tag}:there', '{tag}:new'], [7, 9]],
      ['two new ones', ['{tag}:new', '{tag}:newer'], [9, 9]],
    ])(
      'concurrent charges of one key each in a half-moved slot are decided: %s',
      async (_, keys, remaining) => {
        const verdicts = await chargeStore(
          store,
          keys.map((key) => [part(key, policy)]),
        )
        expect(verdicts.map(({ parts }) => parts[0]?.remaining)).toEqual(remaining)
        expect(await left(...keys)).toEqual(remaining)
      },
    )

    test('several keys of a half-moved slot are refunded and forgotten', async () => {
      const refunds = [part('{tag}:here', policy), part('{tag}:there', policy)]
      await refundStore(
        store,
        refunds.map((one) => ({ ...one, takenAtMs: Date.now() })),
      )
      expect(await left('{tag}:here', '{tag}:there')).toEqual([10, 9])
      await forgetStore(store, keyedPolicies(policy, '{tag}:here', '{tag}:there'))
      expect(await left('{tag}:here', '{tag}:there')).toEqual([10, 10])
    })

    test('a charge of keys of a half-moved slot on two nodes rejects in bounded time, and takes nothing', async () => {
      const charges = [
        [part('{tag}:here', policy), part('{tag}:there', policy)],
        [part('{tag}:new', policy), part('{tag}:newer', policy)],
        [part('elsewhere', policy), part('{tag}:here', policy), part('{tag}:there', policy)],
      ]
      for (const charge of charges) {
        const call = chargeStore(store, [charge])
        expect((await rejection(call)).message).toMatch(/TRYAGAIN|redirections/)
      }
      expect(await left('{tag}:here', '{tag}:there', '{tag}:new', 'elsewhere')).toEqual([9, 8, 10, 10])
      await move.migrateKeys()
      expect((await chargeOne(store, ...(charges[0] ?? []))).parts.map(({ remaining }) => remaining)).toEqual(
        [8, 7],
      )
    })

    test('charges of other slots do not wait for a half-moved slot', async () => {
      await chargeOne(store, part('elsewhere', policy))
      let failed = 0
      const stuck: Promise<unknown>[] = []
      for (let turn = 0; turn < 4; turn++) {
        const call = chargeStore(store, [[part('{tag}:here', policy), part('{tag}:there', policy)]])
        stuck.push(rejection(call).then(() => failed++))
        await new Promise(setImmediate)
      }
      await chargeStore(store, [[part('elsewhere', policy)]])
      if (driver === 'ioredis 6') expect(failed).toBe(0) // node-redis does not try again
      await Promise.all(stuck)
    })
  })

  describe('a batch for many slots of a node', () => {
    const ample = fixedWindow({ limit: 1000, window: LONG })

    test.each(['ASK', 'MOVED'])(
      'is decided once, even if the node answers %s for one of them',
      async (answer) => {
        await flushAll(client)
        const batchStore = makeStore()
        const keys = keysApart(client, 'key', 60)
        const moved = keys[30] as string
        const ofOneNode = keys.filter((key) => masterOf(client, key) === masterOf(client, moved))
        expect(ofOneNode).toHaveLength(20)
        const chargeAll = () =>
          chargeStore(
            batchStore,
            keys.map((key) => [part(key, ample)]),
          )
        await chargeAll()
        const [owner, to] = await ownerAndOther(moved)
        const slotMove = await cluster.startMove(slotOf(moved), to)
        await slotMove.migrateKeys()
        if (answer === 'MOVED') await slotMove.finish()
        await expect(owner.cli('GET', moved)).rejects.toThrow(answer)
        for (let taken = 2; taken < 4; taken++) {
          const verdicts = await chargeAll()
          expect(verdicts.map(({ parts }) => ample.limit - (parts[0]?.remaining ?? 0))).toEqual(
            keys.map(() => taken),
          )
        }
        expect(new Set(await remainingOf(batchStore, ample, keys))).toEqual(new Set([ample.limit - 3]))
        await forgetStore(batchStore, keyedPolicies(ample, ...keys))
        expect(new Set(await remainingOf(batchStore, ample, keys))).toEqual(new Set([ample.limit]))
        if (answer === 'ASK') await slotMove.finish()
        await cluster.moveSlot(slotOf(moved), owner)
      },
    )
  })
})
