import { redisStore } from 'headgate/redis'
import { Redis as Ioredis, Cluster as IoredisCluster } from 'ioredis'
import { Redis as Ioredis5, Cluster as Ioredis5Cluster } from 'ioredis5'
import { Redis as Iovalkey, Cluster as IovalkeyCluster } from 'iovalkey'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'

/** What `redisStore` takes; the real clients below are assigned to it without a cast. */
type Accepted = Parameters<typeof redisStore>[0]

const NOWHERE = { host: '127.0.0.1', port: 1 }
const URL = 'redis://127.0.0.1:1'
const rootNodes = [{ url: URL }]
const sentinel = { name: 'main', sentinelRootNodes: [NOWHERE] }
const lazy = { lazyConnect: true, autoResendUnfulfilledCommands: false }

const add6 = redis6.defineScript({
  SCRIPT: 'return redis.call("INCRBY", KEYS[1], ARGV[1])',
  NUMBER_OF_KEYS: 1,
  parseCommand: (parser: redis6.CommandParser, key: string, by: number) => {
    parser.pushKey(key)
    parser.push(String(by))
  },
  transformReply: undefined as unknown as () => number,
})
const add5 = redis5.defineScript({
  SCRIPT: 'return redis.call("INCRBY", KEYS[1], ARGV[1])',
  NUMBER_OF_KEYS: 1,
  parseCommand: (parser: redis5.CommandParser, key: string, by: number) => {
    parser.pushKey(key)
    parser.push(String(by))
  },
  transformReply: undefined as unknown as () => number,
})
const asBuffers6 = { typeMapping: { [redis6.RESP_TYPES.BLOB_STRING]: Buffer } }
const asBuffers5 = { typeMapping: { [redis5.RESP_TYPES.BLOB_STRING]: Buffer } }

/** An object, because TypeScript compares the elements of an array with one another. */
const CLIENTS: Readonly<Record<string, () => Accepted>> = {
  'ioredis 6': () => new Ioredis({ ...NOWHERE, ...lazy }),
  'ioredis 6, Cluster': () => new IoredisCluster([NOWHERE], { lazyConnect: true, retryDelayOnFailover: 0 }),
  'ioredis 5': () => new Ioredis5({ ...NOWHERE, ...lazy }),
  'ioredis 5, Cluster': () => new Ioredis5Cluster([NOWHERE], { lazyConnect: true, retryDelayOnFailover: 0 }),
  iovalkey: () => new Iovalkey({ ...NOWHERE, ...lazy }),
  'iovalkey, Cluster': () => new IovalkeyCluster([NOWHERE], { lazyConnect: true, retryDelayOnFailover: 0 }),

  'redis 6': () => redis6.createClient(),
  'redis 6, RESP2': () => redis6.createClient({ RESP: 2, url: URL }),
  'redis 6, RESP3': () => redis6.createClient({ RESP: 3, url: URL }),
  'redis 6, scripts': () => redis6.createClient({ scripts: { add: add6 } }),
  'redis 6, a type mapping': () => redis6.createClient({ commandOptions: asBuffers6 }),
  'redis 6, withTypeMapping': () => redis6.createClient().withTypeMapping(asBuffers6.typeMapping),
  'redis 6, Sentinel': () => redis6.createSentinel(sentinel),
  'redis 6, Sentinel, scripts': () => redis6.createSentinel({ ...sentinel, scripts: { add: add6 }, RESP: 2 }),
  'redis 6, Cluster': () => redis6.createCluster({ rootNodes }),
  'redis 6, Cluster, scripts': () => redis6.createCluster({ rootNodes, scripts: { add: add6 }, RESP: 3 }),
  'redis 6, Cluster, a type mapping': () => redis6.createCluster({ rootNodes, commandOptions: asBuffers6 }),

  'redis 5': () => redis5.createClient(),
  'redis 5, RESP3': () => redis5.createClient({ RESP: 3, url: URL }),
  'redis 5, scripts': () => redis5.createClient({ scripts: { add: add5 } }),
  'redis 5, a type mapping': () => redis5.createClient({ commandOptions: asBuffers5 }),
  'redis 5, Sentinel': () => redis5.createSentinel(sentinel),
  'redis 5, Cluster': () => redis5.createCluster({ rootNodes }),
  'redis 5, Cluster, RESP3': () => redis5.createCluster({ rootNodes, RESP: 3, scripts: { add: add5 } }),
}

test.each(Object.entries(CLIENTS))('redisStore takes a client of %s', (_, make) => {
  expect(redisStore(make()).name).toBe('redis')
})

test('redisStore takes clients that were declared with the types of their drivers', () => {
  const declared: [redis6.RedisClientType, redis6.RedisClusterType, redis6.RedisSentinelType] = [
    redis6.createClient({ RESP: 2 }) as never,
    redis6.createCluster({ rootNodes }) as never,
    redis6.createSentinel(sentinel) as never,
  ]
  const accepted: Accepted[] = [...declared, redis5.createClient() as never as redis5.RedisClientType]
  expect(accepted.map((client) => redisStore(client).name)).toEqual(Array(4).fill('redis'))
})

/** A client of another version of its driver, which lacks a member. */
function without(member: string, client: object): object {
  return Object.defineProperty(client, member, { value: undefined })
}

test.each<[string, () => unknown]>([
  ['a pool of redis 6', () => redis6.createClientPool()],
  ['a pool of redis 5', () => redis5.createClientPool()],
  ['a legacy client of redis 6', () => redis6.createClient().legacy()],
  ['a Sentinel of redis 6 without _execute', () => without('_execute', redis6.createSentinel(sentinel))],
  ['a Sentinel of redis 5 without _execute', () => without('_execute', redis5.createSentinel(sentinel))],
  [
    'a Cluster of redis 6 without nodeClient',
    () => without('nodeClient', redis6.createCluster({ rootNodes })),
  ],
  ['a Cluster of redis 6 without slots', () => without('slots', redis6.createCluster({ rootNodes }))],
  ['a Cluster of redis 5 without slots', () => without('slots', redis5.createCluster({ rootNodes }))],
])('%s throws a TypeError that says what to write', (_, make) => {
  expect(() => redisStore(make() as Accepted)).toThrow(
    'redisStore: client must be a client of ioredis, of redis 5 or later (not a pool), of Valkey GLIDE, ' +
      'or of Bun, got an object. ' +
      'Write redisStore(new Redis(url)) for ioredis, or redisStore(createClient({ url })) for redis. ' +
      'For any other client, write customRedisStore({ send }).',
  )
})
