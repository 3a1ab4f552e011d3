import { describeClusterConformance } from './cluster-conformance.js'

describeClusterConformance({ 'redis 6': 'all', GLIDE: 'sample' })
