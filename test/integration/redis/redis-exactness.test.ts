import { describeRedisExactness } from './redis-exactness.js'

describeRedisExactness('sample', { processes: 2, callers: 100, charges: 5 })
