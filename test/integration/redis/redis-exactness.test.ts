import { describeRedisExactness } from './redis-exactness.js'

describeRedisExactness('sample', 2, 100)
