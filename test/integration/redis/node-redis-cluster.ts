import slotOf from 'cluster-key-slot'
import { fixedWindow, type Store } from 'headgate'
import { redisStore } from 'headgate/redis'
import { createCluster } from 'redis'
import { createCluster as createCluster5 } from 'redis5'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { type FaultyProxy, startProxy } from '../../support/proxy.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import {
  type ClusterNode,
  type RedisCluster,
  startRedisCluster,
} from '../../support/servers/redis-cluster.js'
import { stopAll, until } from '../../support/servers/wait.js'
import { chargeStore, takeOne } from '../../support/store-calls.js'
import { ownerOfKey } from './connect-cluster.js'
import { failureOf, outcomeOf } from './outcomes.js'

type Client = ReturnType<typeof createCluster>

const policy = fixedWindow({ limit: 10, window: LONG })

const MAKERS: readonly (readonly [string, typeof createCluster])[] = [
  ['redis 6', createCluster],
  ['redis 5', createCluster5 as object as typeof createCluster],
]

/** Defines the tests of clients of a Cluster of some versions of node-redis. */
export function describeNodeRedisCluster(...versions: string[]): void {
  let cluster: RedisCluster
  /** One in front of each node. */
  let proxies: FaultyProxy[]

  beforeAll(async () => {
    cluster = await startRedisCluster()
    proxies = await Promise.all(cluster.nodes.map(startProxy))
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    await stopAll(proxies ?? [])
    await cluster?.stop()
  })

  const proxyOf = (node: ClusterNode) => proxies[cluster.nodes.indexOf(node)] as FaultyProxy

  /** Makes a node refuse connections, and ends those that it has. */
  async function takeAway(node: ClusterNode): Promise<void> {
    await proxyOf(node).refuse()
    proxyOf(node).cut()
  }

  describe.each(MAKERS.filter(([version]) => versions.includes(version)))(
    'with a Cluster client of %s whose node refuses connections',
    (_, create) => {
      let client: Client
      let store: Store
      let owner: ClusterNode
      let other: ClusterNode

      beforeEach(async () => {
        await Promise.all(cluster.nodes.map((node) => node.cli('FLUSHALL')))
        owner = await ownerOfKey(cluster, 'key')
        other = cluster.nodes.find((node) => node !== owner) as ClusterNode
      })

      afterEach(async () => {
        client?.destroy()
        await Promise.all(proxies.map((proxy) => proxy.heal()))
      })

      /** Begins to connect. */
      function open(options: { minimizeConnections?: boolean } = {}) {
        const addresses = cluster.nodes.map((node) => [`${node.host}:${node.port}`, proxyOf(node)] as const)
        client = create({
          ...options,
          rootNodes: [{ url: other.url }],
          nodeAddressMap: Object.fromEntries(
            addresses.map(([from, { host, port }]) => [from, { host, port }]),
          ),
          defaults: { socket: { reconnectStrategy: () => 50 } },
        })
        client.on('error', () => undefined)
        store = redisStore(client)
        return client.connect()
      }

      const charge = () => chargeStore(store, [[part('key', policy)]])

      async function takenOnceBack(node: ClusterNode): Promise<number> {
        await proxyOf(node).heal()
        const peek = () => outcomeOf(chargeStore(store, [[part('key', policy, 0)]]))
        await until('charges work again', async () => (await peek()).verdict !== undefined)
        return policy.limit - ((await remainingOf(store, policy, ['key']))[0] ?? 0)
      }

      test('a charge that is redirected to that node fails soon, and is never taken', async () => {
        await open()
        await takeOne(store, 'key', policy)
        await cluster.moveSlot(slotOf('key'), other)
        await takeAway(other)
        expect((await failureOf(charge())).message).toContain('the slot has moved to')
        expect(await takenOnceBack(other)).toBe(1)
      })

      test('with minimizeConnections, the first charges for the node fail soon, and are never taken', async () => {
        await open({ minimizeConnections: true })
        await takeAway(owner)
        await Promise.all([charge(), charge()].map((call) => failureOf(call)))
        await failureOf(charge())
        expect(await takenOnceBack(owner)).toBe(0)
      })

      test('charges for the other nodes are decided while the client connects', async () => {
        await takeAway(owner)
        open().catch(() => undefined) // the test ends it before
        const key = await keyOf(other)
        const { verdict, error } = await outcomeOf(chargeStore(store, [[part(key, policy)]]))
        expect({ error, allowed: verdict?.allowed }).toEqual({ error: undefined, allowed: true })
        await failureOf(charge())
        expect(await takenOnceBack(owner)).toBe(0)
      })
    },
  )

  /** A key of a node. */
  async function keyOf(node: ClusterNode): Promise<string> {
    for (let i = 0; ; i++) if ((await ownerOfKey(cluster, `key-${i}`)) === node) return `key-${i}`
  }
}
