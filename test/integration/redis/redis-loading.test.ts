import { describeLoading } from './redis-loading.js'

describeLoading('ioredis 6', 'redis 6')
