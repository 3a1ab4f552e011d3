import { describeResharding } from './cluster-resharding.js'

// A store waits 250 ms for a command that a node redirects: on a busy machine, some take longer.

describeResharding(['redis 6', 'ioredis 6'])
