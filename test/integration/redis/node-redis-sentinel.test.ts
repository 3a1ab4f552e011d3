import { describeNodeRedisSentinel } from './node-redis-sentinel.js'

describeNodeRedisSentinel('redis 6')
