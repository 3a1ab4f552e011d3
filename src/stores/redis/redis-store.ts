import { wrongKind } from '../../util/validate.js'
import { warnOnce } from '../../util/warn-once.js'
import { batcher, type Send } from '../shared/batcher.js'
import { crossShardCharge } from '../shared/cross-shard.js'
import { checkCharges, checkRefunds } from '../shared/validate.js'
import type { Charge, KeyedPolicy, Refund, Store } from '../store.js'
import { isClusterClient, isRedisClient, type RedisClient, type RedisClusterClient } from './client.js'
import { clusterTransport } from './cluster-transport.js'
import { CHARGE, REFUND } from './operations.js'
import { encodePolicy } from './policy-codec.js'
import { scriptRunner } from './script-runner.js'
import { asStoreError, serverTransport, type Transport } from './transport.js'

/**
 * The largest batch, in keys: enough to spread the cost of a call, few enough not to keep the server's other
 * clients waiting. The server decides one batch while the next one travels, over one connection, so that the
 * order is kept. Where the server is far away, more batches travel: a charge waits for others no longer than
 * the stall timeout.
 */
const BATCHES = { maxWeight: 256, maxInFlight: 2, stallTimeoutMs: 3 }

/**
 * Creates a store that keeps states in Redis or Valkey, for any number of processes. Concurrent charges go
 * in a single script call.
 *
 * - Atomicity: the script. Family: code that runs in the server. A call is sent again only where it
 *   certainly was not run: a server does not know the script (`NOSCRIPT`), or a Cluster's node refuses it
 *   because a slot has moved.
 * - In a Cluster, a script sees the keys of one slot. A charge whose keys live in several slots is decided
 *   slot by slot, and refunded when a later slot denies: never more than a limit is admitted, and for the
 *   time of some round trips up to the cost of such a charge is taken too much.
 * - Clock: the server's `TIME`.
 * - States expire once they equal fresh ones, up to a sixteenth of a bucket's span or a slice later.
 * - `client` is the user's ioredis client, version 5 or 6, a `Redis` or a `Cluster`. It is never closed, and
 *   its `keyPrefix` is respected. Charges wait for its first connection; later they fail at once with
 *   `StoreError` while it is not connected, instead of waiting in its queue.
 *
 * Throws a `TypeError` for anything that is no such client.
 */
export function redisStore(client: RedisClient | RedisClusterClient): Store {
  if (!isRedisClient(client)) {
    const fix = 'Write redisStore(new Redis(url)).'
    throw wrongKind('redisStore', 'client', 'an ioredis client', client, fix)
  }
  const transport = isClusterClient(client) ? clusterTransport(client) : serverTransport(client)
  const chargeShards = batcher(scriptRunner(transport, CHARGE), {
    ...BATCHES,
    weigh: ({ length }: Charge) => length,
  })
  const refundAll = batcher(scriptRunner(transport, REFUND), BATCHES)
  const forgetAll = batcher(unlinker(transport), BATCHES)

  async function refund(refunds: readonly Refund[]): Promise<void> {
    checkRefunds('redisStore', refunds)
    checkPolicies(refunds)
    await refundAll(refunds)
  }

  const { shardOf } = transport
  const chargeAll = shardOf
    ? crossShardCharge({ shardOf, charge: chargeShards, refund, onRefundFailed })
    : chargeShards
  return {
    name: 'redis',
    charge(charges) {
      try {
        checkCharges('redisStore', charges)
        for (const charge of charges) checkPolicies(charge)
      } catch (error) {
        return Promise.reject(error)
      }
      return chargeAll(charges) // no async: that would be one more promise for each decision
    },
    refund,
    async forget(keys) {
      await forgetAll(keys)
    },
  }
}

/** Throws a `TypeError` for a policy without a script: in a batch it would spoil others. */
function checkPolicies(keys: readonly KeyedPolicy[]): void {
  for (const { policy } of keys) encodePolicy(policy)
}

/** Returns a `Send` that removes each key by a command: keys of a moving slot may be on two nodes. */
function unlinker({ shardOf = () => 0, send }: Transport): Send<KeyedPolicy, true> {
  return async (keys, answer) => {
    const replies = send(keys.map(({ key }) => ({ shard: shardOf(key), words: ['unlink', key] })))
    await Promise.all(
      replies.map((reply, i) =>
        reply.then(
          () => answer(i, true),
          (cause: unknown) => answer(i, asStoreError(cause)),
        ),
      ),
    )
  }
}

function onRefundFailed(reason: unknown): void {
  warnOnce(
    'HEADGATE_REDIS_NOT_GIVEN_BACK',
    'headgate: a charge over several slots was denied, and the units that it had taken before could not be refunded. ' +
      `They stay taken until they are refilled. (${reason instanceof Error ? reason.message : reason})`,
  )
}
