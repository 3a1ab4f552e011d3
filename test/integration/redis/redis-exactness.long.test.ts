import { describeRedisExactness } from './redis-exactness.js'

describeRedisExactness('all', 4, 200)
