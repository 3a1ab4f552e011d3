import { describeNodeRedisConnecting } from './node-redis-connecting.js'

describeNodeRedisConnecting('redis 6')
