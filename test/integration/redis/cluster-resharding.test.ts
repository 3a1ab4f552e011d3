import { describeResharding } from './cluster-resharding.js'

describeResharding('ioredis 6')
