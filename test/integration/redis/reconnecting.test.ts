import { describeReconnecting } from './reconnecting.js'

describeReconnecting('ioredis 6', 'redis 6')
