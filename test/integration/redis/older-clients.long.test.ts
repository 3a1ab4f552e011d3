import { describeNodeRedisClient } from './node-redis-client.js'
import { describeNodeRedisCluster } from './node-redis-cluster.js'
import { describeNodeRedisConnecting } from './node-redis-connecting.js'
import { describeNodeRedisReconnecting } from './node-redis-reconnecting.js'
import { describeNodeRedisSentinel } from './node-redis-sentinel.js'
import { describeConnecting } from './redis-connecting.js'
import { describeLoading } from './redis-loading.js'
import { describeReconnecting } from './redis-reconnecting.js'

// All that `npm test` shows of the newest version of each driver.

describe('connecting with ioredis', () => describeConnecting('ioredis 5'))
describe('reconnecting with ioredis', () => describeReconnecting('ioredis 5'))
describe('a server that takes no charges for a while', () => describeLoading('ioredis 5', 'redis 5'))
describe('clients of node-redis', () => describeNodeRedisClient('redis 5'))
describe('connecting with node-redis', () => describeNodeRedisConnecting('redis 5'))
describe('reconnecting with node-redis', () => describeNodeRedisReconnecting('redis 5'))
describe('Cluster clients of node-redis', () => describeNodeRedisCluster('redis 5'))
describe('Sentinel clients of node-redis', () => describeNodeRedisSentinel('redis 5'))
