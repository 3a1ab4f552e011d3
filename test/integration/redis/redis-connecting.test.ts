import { describeConnecting } from './redis-connecting.js'

describeConnecting('ioredis 6')
