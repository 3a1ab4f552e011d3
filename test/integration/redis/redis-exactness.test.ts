import { describeRedisExactness } from './redis-exactness.js'

describeRedisExactness('sample')
