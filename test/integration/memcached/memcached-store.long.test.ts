import { describeMemcachedConformance } from './memcached-conformance.js'

describeMemcachedConformance('all')
