import { describeNodeRedisReconnecting } from './node-redis-reconnecting.js'

describeNodeRedisReconnecting('redis 6')
