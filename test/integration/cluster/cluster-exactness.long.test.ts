import { describeClusterExactness } from './cluster-exactness.js'

describeClusterExactness('all')
