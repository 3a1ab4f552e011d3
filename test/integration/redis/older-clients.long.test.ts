import { describeClient } from './client.js'
import { describeConnecting } from './connecting.js'
import { describeNodeRedisCluster } from './node-redis-cluster.js'
import { describeNodeRedisSentinel } from './node-redis-sentinel.js'
import { describeReconnecting } from './reconnecting.js'
import { describeLoading } from './redis-loading.js'

// All that `npm test` shows of the newest version of each driver.

describe('connecting', () => describeConnecting('ioredis 5', 'redis 5'))
describe('reconnecting', () => describeReconnecting('ioredis 5', 'redis 5'))
describe('a server that takes no charges for a while', () => describeLoading('ioredis 5', 'redis 5'))
describe('clients', () => describeClient('ioredis 5', 'redis 5'))
describe('Cluster clients of node-redis', () => describeNodeRedisCluster('redis 5'))
describe('Sentinel clients of node-redis', () => describeNodeRedisSentinel('redis 5'))
