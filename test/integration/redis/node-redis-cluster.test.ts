import { describeNodeRedisCluster } from './node-redis-cluster.js'

describeNodeRedisCluster('redis 6')
