import { describeResharding } from './cluster-resharding.js'

// Its load leaves other tests no time, and theirs leave the cluster none to move a slot.

describeResharding(['ioredis 6'], 2)
