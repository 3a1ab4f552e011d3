import { describeReconnecting } from './redis-reconnecting.js'

describeReconnecting('ioredis 6')
