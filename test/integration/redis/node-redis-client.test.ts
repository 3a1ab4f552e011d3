import { describeNodeRedisClient } from './node-redis-client.js'

describeNodeRedisClient('redis 6')
