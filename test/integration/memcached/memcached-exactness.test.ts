import { describeMemcachedExactness } from './memcached-exactness.js'

describeMemcachedExactness({ processes: 2, callers: 100, calls: 5 })
