import { warnOnce } from '../../util/warn-once.js'
import type { Run } from '../shared/run-operations.js'
import { acrossShards } from '../shared/shards.js'
import type { Batching } from '../store.js'
import { scriptRunner } from './script-runner.js'
import type { Transport } from './transport.js'

/** Creates a function that runs operations on a Cluster, slot by slot. */
export function runOnCluster(transport: Transport, batching: Batching): Run {
  return acrossShards(transport.slotOf, scriptRunner(transport), batching)
}

/**
 * Creates a function that runs operations on one server. Hosted clusters, such as ElastiCache Serverless, may
 * have one address, where a client for one server works until a call has keys of several slots. That call is
 * rejected before it runs. From then on, operations are sent slot by slot.
 */
export function runOnServer(transport: Transport, batching: Batching): Run {
  const runBySlot = runOnCluster(transport, batching)
  let run = scriptRunner(transport, (operations, settle) => {
    run = runBySlot
    warnOnce(
      'HEADGATE_REDIS_SLOTS',
      'headgate: the Redis server is a cluster, and rejected a batch with keys of several slots. From now ' +
        'on, headgate sends commands slot by slot. No charge was lost or counted twice. If your client is ' +
        'for one server, a Cluster client is faster.',
    )
    return runBySlot(operations, settle)
  })
  return (operations, settle) => run(operations, settle)
}
