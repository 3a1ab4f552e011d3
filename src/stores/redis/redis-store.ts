import { wrongKind } from '../../util/validate.js'
import { warnOnce } from '../../util/warn-once.js'
import { batcher, type Send } from '../shared/batcher.js'
import { crossShardCharge } from '../shared/cross-shard.js'
import { checkCharges, checkRefunds } from '../shared/validate.js'
import type { Charge, KeyedPolicy, Refund, Store } from '../store.js'
import { asStoreError, messageOf } from '../store-error.js'
import { isClusterClient, isRedisClient, type RedisClient, type RedisClusterClient } from './client.js'
import { clusterTransport } from './cluster-transport.js'
import { CHARGE, REFUND } from './operations.js'
import { encodePolicy } from './policy-codec.js'
import { scriptRunner } from './script-runner.js'
import { serverTransport, type Transport } from './transport.js'

/**
 * 256 keys spread the cost of a call, and do not keep the server's other clients waiting. The server decides
 * one batch while the next one travels, in order, over one connection. With a distant server, more batches
 * travel: none delays the next one for longer than the stall timeout.
 */
const BATCHES = { maxWeight: 256, maxInFlight: 2, stallTimeoutMs: 3 }

/**
 * Creates a store that keeps states in Redis or Valkey, for any number of processes. Concurrent charges go
 * in a single script call.
 *
 * - Atomicity: a Lua script. A call is sent again only where it certainly was not run: the server does not
 *   know the script (`NOSCRIPT`), or a Cluster's node rejects it because a slot has moved.
 * - In a Cluster, a script sees the keys of one slot. A charge whose keys live in several slots is decided
 *   slot by slot, and refunded when a later slot denies: no more than a limit is ever admitted, but until
 *   the refund, up to the cost of such a charge is missing to others.
 * - Clock: the server's `TIME`.
 * - States expire once they are fresh, up to a slice or a sixteenth of a bucket's span later.
 * - `client` is a `Redis` or a `Cluster` of ioredis 5 or 6. It is never closed, and its `keyPrefix` is
 *   respected. Charges wait for its first connection; later they fail with `StoreError` at once while it is
 *   disconnected, instead of waiting in its queue.
 *
 * Throws a `TypeError` for any other client.
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
      return chargeAll(charges) // not async: that would cost one more promise per decision
    },
    refund,
    async forget(keys) {
      await forgetAll(keys)
    },
  }
}

/** Throws a `TypeError` for a policy without a script, which would fail a whole batch. */
function checkPolicies(keys: readonly KeyedPolicy[]): void {
  for (const { policy } of keys) encodePolicy(policy)
}

/** Returns a `Send` that removes each key by its own command: keys of a moving slot may be on two nodes. */
function unlinker({ shardOf = () => 0, send }: Transport): Send<KeyedPolicy, true> {
  return async (keys, answer) => {
    const replies = send(keys.map(({ key }) => ({ shard: shardOf(key), words: ['unlink', key] })))
    await Promise.all(
      replies.map((reply, i) =>
        reply.then(
          () => answer(i, true),
          (cause: unknown) => answer(i, asStoreError('redis', cause)),
        ),
      ),
    )
  }
}

function onRefundFailed(reason: unknown): void {
  warnOnce(
    'HEADGATE_REDIS_NOT_GIVEN_BACK',
    'headgate: units of a denied charge over several slots could not be refunded. They stay taken until they are ' +
      `refilled. (${messageOf(reason)})`,
  )
}
