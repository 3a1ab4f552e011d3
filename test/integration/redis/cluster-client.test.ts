import { fixedWindow } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Cluster, type ClusterOptions } from 'ioredis'
import { createCluster } from 'redis'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import {
  allowedCount,
  keyedPolicies,
  part,
  remainingOf,
} from '../../../src/testing/conformance/store-calls.js'
import { forgetWarnings } from '../../../src/util/warn-once.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisCluster, startRedisCluster } from '../../support/servers/redis-cluster.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import { connectCluster, countKeys, flushAll } from './connect-cluster.js'

const policy = fixedWindow({ limit: 5, window: LONG })

let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startRedisCluster()
}, INSTALL_TIMEOUT_MS)

afterAll(() => cluster?.stop())

/** Lets a test have a connected client of an empty Cluster. */
function withClient(options: Omit<ClusterOptions, 'redisOptions'>, run: (client: Cluster) => Promise<void>) {
  return async () => {
    const client = await connectCluster(cluster, options)
    try {
      await flushAll(client)
      await run(client)
    } finally {
      client.disconnect()
    }
  }
}

test(
  '5000 keys charged in one tick are each charged, refunded and forgotten exactly once',
  withClient({}, async (client) => {
    const store = redisStore(client)
    const keys = Array.from({ length: 5000 }, (_, i) => `key-${i}`)
    const verdicts = await Promise.all(keys.map((key) => chargeStore(store, [[part(key, policy, 2)]])))
    expect(allowedCount(verdicts.flat())).toBe(5000)
    expect(new Set(verdicts.flat().map(({ parts }) => parts[0]?.remaining))).toEqual(new Set([3]))
    const takenAtMs = verdicts[0]?.[0]?.atMs ?? 0
    await refundStore(
      store,
      keys.slice(0, 2500).map((key) => ({ ...part(key, policy, 2), takenAtMs })),
    )
    expect(await countKeys(client)).toBe(2500)
    await forgetStore(store, keyedPolicies(policy, ...keys))
    expect(await countKeys(client)).toBe(0)
  }),
  60_000,
)

test.each<[string, ClusterOptions]>([
  ['a prefix without braces', { keyPrefix: 'app:' }],
  ['a prefix that puts all into one slot', { keyPrefix: '{app}:' }],
  ['automatic pipelines', { enableAutoPipelining: true }],
])('a client with %s works', (_, options) =>
  withClient(options, async (client) => {
    const store = redisStore(client)
    const keys = Array.from({ length: 50 }, (_each, i) => `key-${i}`)
    const charges = keys.map((key) => [
      part(key, policy),
      part('shared', fixedWindow({ limit: 40, window: LONG })),
    ])
    const verdicts = await Promise.all(charges.map((charge) => chargeStore(store, [charge])))
    expect(allowedCount(verdicts.flat())).toBe(40)
    const left = await remainingOf(store, policy, keys)
    expect(left.filter((remaining) => remaining === 4)).toHaveLength(40)
    const stored = (await Promise.all(client.nodes('master').map((node) => node.keys('*')))).flat()
    expect(stored).toHaveLength(41)
    expect(stored.every((key) => key.startsWith(options.keyPrefix ?? ''))).toBe(true)
    await forgetStore(store, keyedPolicies(policy, 'shared', ...keys))
    expect(await countKeys(client)).toBe(0)
  })(),
)

test.each([
  ['no prefix', undefined],
  ['a prefix without braces', 'app:'],
  ['a prefix that puts all into one slot', '{app}:'],
])('a client of redis 6 with %s works from the first moment', async (_, keyPrefix) => {
  const watcher = await connectCluster(cluster)
  await flushAll(watcher)
  const rootNodes = cluster.nodes.map(({ url }) => ({ url }))
  const client = createCluster({ rootNodes, ...(keyPrefix && { keyPrefix }) })
  client.on('error', () => undefined)
  const store = redisStore(client)
  const keys = Array.from({ length: 50 }, (_each, i) => `key-${i}`)
  const shared = fixedWindow({ limit: 40, window: LONG })
  const charge = (key: string) => chargeStore(store, [[part(key, policy), part('shared', shared)]])
  try {
    await expect(charge('key')).rejects.toThrow('Call client.connect() first.')
    const connected = client.connect()
    expect(allowedCount((await Promise.all(keys.map(charge))).flat())).toBe(40)
    await connected
    const stored = (await Promise.all(watcher.nodes('master').map((node) => node.keys('*')))).flat()
    expect(stored).toHaveLength(41)
    expect(stored.every((key) => key.startsWith(keyPrefix ?? ''))).toBe(true)
    await forgetStore(store, keyedPolicies(policy, 'shared', ...keys))
    expect(await countKeys(watcher)).toBe(0)
  } finally {
    client.destroy()
    watcher.disconnect()
  }
  await expect(charge('key')).rejects.toThrow('Call client.connect() first.')
})

test.each([
  ['warns once', undefined, 1],
  ['does not warn', 0, 0],
])('a client %s about resent commands with retryDelayOnFailover %s', (_, retryDelayOnFailover, times) => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation()
  forgetWarnings()
  const client = new Cluster([{ host: '127.0.0.1', port: 1 }], {
    lazyConnect: true,
    ...(retryDelayOnFailover === undefined ? {} : { retryDelayOnFailover }),
  })
  for (let i = 0; i < 2; i++) redisStore(client)
  const warned = warn.mock.calls.filter(([, options]) => {
    return (options as { code?: string } | undefined)?.code === 'HEADGATE_REDIS_RESENDS'
  })
  warn.mockRestore()
  expect(warned).toHaveLength(times)
  if (times > 0) expect(String(warned[0]?.[0])).toContain('retryDelayOnFailover: 0')
})
