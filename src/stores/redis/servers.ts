import { recordResend, resentAtMs } from '../../pipe/client-notes.js'
import { warnOnce } from '../../util/warn-once.js'
import type { Run } from '../shared/run-operations.js'
import type { Batching } from '../store.js'
import type { HintOf } from './errors.js'
import type { Transport } from './transport.js'

/**
 * 256 keys spread the cost of a call, and do not keep the server's other clients waiting. The server decides
 * one batch while the next one travels, in order, over one connection. With a distant server, more batches
 * travel: none delays the next one for longer than the stall timeout.
 */
const BATCHING: Batching = { maxKeys: 256, maxInFlight: 2, stallTimeoutMs: 10 }

/** A batch for a server with slots becomes many small calls. In a larger batch, more charges share a call. */
const MAX_KEYS_BY_SLOT = 1024

/** What all stores of a client know of its server, or of the servers of its Cluster. */
export interface Servers {
  /** The name of the stores in errors. */
  readonly name: string
  readonly client: object
  readonly transport: Transport
  /** Returns the fix for an error of the transport. */
  readonly hintOf: HintOf
  /**
   * Through a client for one server, only one batch is in flight if the server has slots, or until a batch of
   * several operations has come back. Otherwise, a server with slots would reject several batches of the
   * first burst, and each would be sent again as many small calls.
   */
  readonly batching: { -readonly [Name in keyof Batching]: Batching[Name] }
  /** Whether the keys of a call must have one slot, as on a Cluster. */
  hasSlots: boolean
  /** Whether a batch of several operations has come back. It usually shows whether the server has slots. */
  isProbed: boolean
  /** Applies operations slot by slot. Absent until the first time. */
  runBySlot: Run | undefined
}

/** Returns the servers to which a transport leads. */
export function serversOver(name: string, client: object, transport: Transport, hintOf: HintOf): Servers {
  const batching = { ...BATCHING, ...transport.batching }
  const isCluster = transport.serverOf !== undefined || transport.hasSlots === true
  const servers = {
    name,
    client,
    transport,
    hintOf,
    batching,
    hasSlots: isCluster,
    isProbed: isCluster,
    runBySlot: undefined,
  }
  if (isCluster) return servers
  batching.maxInFlight = 1
  if (resentAtMs(client) !== undefined) useSlots(servers)
  return servers
}

/** Records that a batch of several operations has come back from one server. */
export function recordProbe(servers: Servers): void {
  const { transport, batching, hasSlots } = servers
  servers.isProbed = true
  if (!hasSlots) batching.maxInFlight = transport.batching?.maxInFlight ?? BATCHING.maxInFlight
}

/**
 * Records that a server has slots, which a client made for one server does not know. Hosted clusters, such as
 * ElastiCache Serverless, may have one address, where such a client works until a call has keys of several
 * slots. That call is rejected before it runs. From then on, the client's operations are sent slot by slot.
 */
export function recordSlots(servers: Servers): void {
  recordResend(servers.client)
  warnOnce(
    'HEADGATE_REDIS_SLOTS',
    'headgate: the Redis server is a cluster, and rejected a batch with keys of several slots. From now ' +
      'on, headgate sends commands slot by slot. No charge was lost or counted twice. If your client is ' +
      'for one server, a Cluster client is faster.',
  )
  useSlots(servers)
}

function useSlots(servers: Servers): void {
  servers.hasSlots = true
  servers.batching.maxInFlight = 1
  servers.batching.maxKeys = MAX_KEYS_BY_SLOT
}
