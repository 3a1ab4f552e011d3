import { describeMemcachedExactness } from './memcached-exactness.js'

describeMemcachedExactness({ processes: 4, callers: 200, calls: 5 })
