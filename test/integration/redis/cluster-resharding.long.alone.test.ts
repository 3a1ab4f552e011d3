import { describeResharding } from './cluster-resharding.js'

// Its store waits 250 ms for a command that a node redirects: on a busy machine, some take longer.

describeResharding('redis 6')
