import { describeClusterExactness } from './cluster-exactness.js'

describeClusterExactness([['ioredis 6', ['tokenBucket']]], 2, 80)
