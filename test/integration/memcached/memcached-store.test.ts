import { describeMemcachedConformance } from './memcached-conformance.js'

describeMemcachedConformance('sample')
