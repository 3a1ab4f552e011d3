import { describeMemcachedStorm } from './memcached-storm.js'

describeMemcachedStorm({ processes: 3, forMs: 1500 })
