import { describeClusterConformance } from './cluster-conformance.js'

describeClusterConformance('sample')
