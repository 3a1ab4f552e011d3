import { fixedWindow, type Store } from 'headgate'
import type { Cluster } from 'ioredis'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { chargeOne, keyedPolicies, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import {
  type ClusterNode,
  type RedisCluster,
  startRedisCluster,
} from '../../support/servers/redis-cluster.js'
import { startAll, stopAll, until } from '../../support/servers/wait.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import { CLUSTER_DRIVERS, clusterStores } from './cluster-drivers.js'
import { connectCluster, keysApart, ownerOfKey } from './connect-cluster.js'
import { rejection, timeOf } from './outcomes.js'

const policy = fixedWindow({ limit: 10, window: LONG })
/**
 * Finding out that a node refuses connections takes a few ms, and giving up at least 16 attempts of 100 ms.
 */
const SOON_MS = 1500
/** ioredis tries 16 times, every 100 ms, while a node says that the cluster is down. */
const GIVES_UP_MS = 15_000

/** Defines the tests of a Cluster that lost a node, for clients of some drivers. */
export function describeLostNode(...drivers: string[]): void {
  let clusters: RedisCluster[]

  beforeAll(async () => {
    const start = (coverage: string) =>
      startRedisCluster({ nodeTimeoutMs: 1000, args: ['--cluster-require-full-coverage', coverage] })
    clusters = await startAll([start('no'), start('yes')])
  }, INSTALL_TIMEOUT_MS)

  afterAll(() => stopAll(clusters ?? []))

  describe.each(CLUSTER_DRIVERS.filter(([driver]) => drivers.includes(driver)))(
    'with a client of %s,',
    (_driver, open) => {
      describe.each([
        ['the others need not serve all slots', 0],
        ['the others must serve all slots', 1],
      ])('a Cluster that lost a node, where %s', (_, which) => {
        const makeStore = clusterStores(() => clusters[which] as RedisCluster, open)
        let client: Cluster
        let store: Store
        let lost: ClusterNode
        let others: ClusterNode[]
        /** Keys on the three nodes. */
        let first: string
        let gone: string
        let last: string

        beforeAll(async () => {
          const cluster = clusters[which] as RedisCluster
          client = await connectCluster(cluster)
          ;[first = '', gone = '', last = ''] = keysApart(client, 'key', 3)
          lost = await ownerOfKey(cluster, gone)
          others = cluster.nodes.filter((node) => node !== lost)
          store = makeStore()
        })

        afterAll(() => client?.disconnect())

        /** Takes 1 of each key that is not on the lost node, which had nothing taken before. */
        async function takeOneOfEach(): Promise<void> {
          await Promise.all(others.map((node) => node.cli('FLUSHDB')))
          await chargeStore(
            store,
            [first, last].map((key) => [part(key, policy)]),
          )
        }

        const left = () => remainingOf(store, policy, [first, last])

        test('rejects the charges in flight to the node, and nothing else', async () => {
          await takeOneOfEach()
          await lost.kill('SIGSTOP')
          const calls = [first, gone, last].map((key) => chargeStore(store, [[part(key, policy)]]))
          const observer = makeStore()
          await until('the others are charged', async () => {
            const remaining = await remainingOf(observer, policy, [first, last])
            return remaining.every((units) => units === 8)
          })
          await lost.kill()
          expect((await rejection(calls[1])).message).toMatch(/closed|connection was lost/)
          for (const call of [calls[0], calls[2]]) expect(await call).toMatchObject([{ allowed: true }])
          expect(await left()).toEqual([8, 8])
        })

        if (which === 0) {
          test('rejects charges for the node soon, and decides the others', async () => {
            await takeOneOfEach()
            for (let taken = 2; taken < 7; taken++) {
              const call = chargeStore(store, [[part(gone, policy)]])
              const [, tookMs] = await Promise.all([rejection(call), timeOf(call)])
              expect(tookMs).toBeLessThan(SOON_MS)
              const { parts } = await chargeOne(store, part(first, policy))
              expect(parts).toMatchObject([{ remaining: 10 - taken }])
            }
          })

          test('decides or rejects each charge of a batch by its own keys', async () => {
            await takeOneOfEach()
            const batch = [[first], [gone], [first, gone], [first, last], [gone, last]]
            const calls = batch.map((keys) => chargeStore(store, [keys.map((key) => part(key, policy))]))
            const statuses = (await Promise.allSettled(calls)).map(({ status }) => status)
            expect(statuses).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled', 'rejected'])
            expect(await left()).toEqual([7, 8])
          })

          test.each<[string, () => string[]]>([
            ['after it', () => [gone, first]],
            ['before it', () => [first, gone]],
            ['before and after it', () => [first, gone, last]],
            ['twice before it', () => [first, last, gone]],
          ])(
            'rejects a charge that needs the node soon, and refunds what it took %s',
            async (_order, keysOf) => {
              await takeOneOfEach()
              const call = chargeStore(store, [keysOf().map((key) => part(key, policy, 2))])
              const [, tookMs] = await Promise.all([rejection(call), timeOf(call)])
              expect(tookMs).toBeLessThan(SOON_MS)
              expect(await left()).toEqual([9, 9])
            },
          )

          test('denies a charge that another node denies first, and shows the key of the lost node as fresh', async () => {
            await takeOneOfEach()
            const { allowed, parts } = await chargeOne(store, part(first, policy, 10), part(gone, policy))
            expect(allowed).toBe(false)
            expect(parts).toMatchObject([
              { allowed: false, remaining: 9 },
              { allowed: true, remaining: 10, resetAfterMs: 0 },
            ])
          })

          test('rejects refunds and forgets for the node, and performs the others', async () => {
            await takeOneOfEach()
            const refunds = [first, gone, last].map((key) => ({
              ...part(key, policy),
              takenAtMs: Date.now(),
            }))
            await rejection(refundStore(store, refunds))
            expect(await left()).toEqual([10, 10])
            await chargeOne(store, part(last, policy))
            await rejection(forgetStore(store, keyedPolicies(policy, gone, last)))
            expect(await left()).toEqual([10, 10])
          })
        }

        test('works in the other slots once the cluster has noticed, and everywhere once the node is back', async () => {
          await takeOneOfEach()
          await until('the others know', async () => {
            const nodes = await Promise.all(others.map((node) => node.cli('CLUSTER', 'NODES')))
            const infos = await Promise.all(others.map((node) => node.cli('CLUSTER', 'INFO')))
            const isDown = infos.every((info) => info.includes('cluster_state:fail'))
            return nodes.every((lines) => lines.includes('master,fail ')) && isDown === (which === 1)
          })
          const calls = [first, gone, last].map((key) => chargeStore(store, [[part(key, policy)]]))
          const tookMs = await Promise.all(calls.map(timeOf))
          expect(Math.max(...tookMs)).toBeLessThan(which === 0 ? SOON_MS : GIVES_UP_MS)
          const statuses = (await Promise.allSettled(calls)).map(({ status }) => status)
          const elsewhere = which === 0 ? 'fulfilled' : 'rejected'
          expect(statuses).toEqual([elsewhere, 'rejected', elsewhere])
          await lost.restart()
          await clusters[which]?.converge()
          const taken = which === 0 ? 2 : 1
          expect(await remainingOf(store, policy, [first, gone, last])).toEqual([10 - taken, 10, 10 - taken])
          const parts = [first, gone, last].map((key) => part(key, policy))
          expect(await chargeOne(store, ...parts)).toMatchObject({
            allowed: true,
            parts: [{}, { remaining: 9 }, {}],
          })
        })
      })
    },
  )
}
