import { describeClusterConformance } from './cluster-conformance.js'

describeClusterConformance({ 'ioredis 6': 'sample', 'redis 6': 'all', 'redis 5': 'sample' })
