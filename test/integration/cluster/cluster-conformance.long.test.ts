import { describeClusterConformance } from './cluster-conformance.js'

describeClusterConformance('all')
