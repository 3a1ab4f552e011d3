import { inRuntimes } from '../../runtimes/fetched.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import type { RedisServer } from '../../support/servers/redis-node.js'
import { startValkey } from '../../support/servers/valkey.js'
import { openBun } from './bun.js'
import { describeClusterConformance } from './cluster-conformance.js'
import { describeConformance } from './conformance.js'
import { DRIVERS } from './drivers.js'
import { glidePath, openGlide } from './glide.js'
import { useRedis } from './use-redis.js'

// All tests for the drivers and servers of which `npm test` runs a sample or nothing.

const redis = useRedis()
let valkey: RedisServer

beforeAll(async () => {
  valkey = await startValkey()
  await Promise.all([inRuntimes('.bin/bun'), glidePath()])
}, INSTALL_TIMEOUT_MS)

afterAll(() => valkey?.stop())

describe.each(['redis 6', 'redis 5'] as const)('on Redis, with a client of %s', (driver) => {
  describeConformance('redisStore', () => redis.server.url, DRIVERS[driver], 'all')
})

describe.each([
  ["Bun's client", openBun],
  ['Valkey GLIDE', openGlide],
] as const)('on Redis, with %s', (_, open) => {
  describeConformance('redisStore', () => redis.server.url, open, 'all')
})

describe('on Redis, with the transport of a user', () => {
  describeConformance('customRedisStore', () => redis.server.url, DRIVERS.text, 'all')
})

describe.each(['iovalkey', 'redis 6'] as const)('on Valkey, with a client of %s', (driver) => {
  describeConformance('redisStore', () => valkey.url, DRIVERS[driver], 'all')
})

describe('on a Cluster', () =>
  describeClusterConformance({ 'ioredis 6': 'all', 'redis 6': 'all', 'redis 5': 'all' }))
