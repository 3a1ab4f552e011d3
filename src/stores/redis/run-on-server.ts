import { warnOnce } from '../../util/warn-once.js'
import { recordResend, resentAtMs } from '../shared/resends.js'
import type { Run } from '../shared/run-operations.js'
import { acrossShards } from '../shared/shards.js'
import type { Batching } from '../store.js'
import { scriptRunner } from './script-runner.js'
import type { Transport } from './transport.js'

/** Creates a function that runs operations on a Cluster, slot by slot. */
export function runOnCluster(transport: Transport, batching: Batching): Run {
  return acrossShards(transport.slotOf, scriptRunner(transport), batching)
}

/** A batch for a server with slots becomes many small calls. In a larger batch, more charges share a call. */
const MAX_KEYS_BY_SLOT = 1024

/**
 * Returns whether the server of a client has shown that it has slots, by rejecting a call because of them.
 */
const hasSlots = (client: object) => resentAtMs(client) !== undefined

/** Clients that have sent a batch of several operations. In most cases, it shows whether the server has slots. */
const probed = new WeakSet<object>()

/**
 * Returns the batching for a client made for one server. Only one batch is in flight if the server has slots,
 * or if no batch of several operations has come back yet. Otherwise, a server with slots would reject several
 * batches of the first burst, and each would be sent again as many small calls.
 */
export function serverBatching(client: object, batching: Batching): Batching {
  return {
    ...batching,
    get maxInFlight() {
      return probed.has(client) && !hasSlots(client) ? batching.maxInFlight : 1
    },
    get maxKeys() {
      return hasSlots(client) ? MAX_KEYS_BY_SLOT : batching.maxKeys
    },
  }
}

/**
 * Creates a function that runs operations on one server. Hosted clusters, such as ElastiCache Serverless, may
 * have one address, where a client for one server works until a call has keys of several slots. That call is
 * rejected before it runs. From then on, all operations of the client are sent slot by slot.
 */
export function runOnServer(client: object, transport: Transport, batching: Batching): Run {
  const runBySlot = runOnCluster(transport, batching)
  const runTogether = scriptRunner(transport, (operations, settle) => {
    recordResend(client)
    warnOnce(
      'HEADGATE_REDIS_SLOTS',
      'headgate: the Redis server is a cluster, and rejected a batch with keys of several slots. From now ' +
        'on, headgate sends commands slot by slot. No charge was lost or counted twice. If your client is ' +
        'for one server, a Cluster client is faster.',
    )
    return runBySlot(operations, settle)
  })
  const runProbe: Run = async (operations, settle) => {
    const outcomes = await runTogether(operations, settle)
    probed.add(client)
    return outcomes
  }
  return (operations, settle) => {
    if (hasSlots(client)) return runBySlot(operations, settle)
    return (operations.length === 1 || probed.has(client) ? runTogether : runProbe)(operations, settle)
  }
}
