import { describeRedisExactness } from './redis-exactness.js'

describeRedisExactness('all', { callers: 200 })
