import { ALL_FLEETS, describeClusterExactness } from './cluster-exactness.js'

describeClusterExactness(ALL_FLEETS, 4, 200)
