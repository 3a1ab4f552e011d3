import { describeConnecting } from './connecting.js'

describeConnecting('ioredis 6', 'redis 6')
