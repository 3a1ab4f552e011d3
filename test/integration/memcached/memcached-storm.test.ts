import { describeMemcachedStorm } from './memcached-storm.js'

describeMemcachedStorm({ processes: 2, forMs: 500 })
