import { describeClusterConformance } from './cluster-conformance.js'

describeClusterConformance({ 'redis 6': 'sample', GLIDE: 'sample' })
