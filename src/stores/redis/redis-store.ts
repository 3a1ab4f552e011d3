import { wrongKind } from '../../util/validate.js'
import { warnOnce } from '../../util/warn-once.js'
import { batcher, type Send } from '../shared/batcher.js'
import { crossShardCharge } from '../shared/cross-shard.js'
import { checkCharges, checkRefunds } from '../shared/validate.js'
import type { Charge, KeyedPolicy, Store } from '../store.js'
import { checkPolicies } from './check-policies.js'
import { isClusterClient, isRedisClient, type RedisClient, type RedisClusterClient } from './client.js'
import { clusterCourier } from './cluster-transport.js'
import { REFUNDING, TAKING } from './operations.js'
import { runScript } from './script-runner.js'
import { serverCourier } from './server-transport.js'
import { asStoreError, type Courier } from './transport.js'

/** Keys in one script call, counted by each part of a charge: enough to spread its cost, few enough not to keep other clients of the server waiting. */
const MAX_KEYS = 256
/** One batch is decided while the next one is on its way. They go over one connection, so the order is kept. */
const MAX_IN_FLIGHT = 2
/** But where the server is far away, more are on their way: who comes waits no longer than this for others. */
const STALL_TIMEOUT_MS = 3

/**
 * Keeps states in Redis or Valkey, for any number of processes: one script call decides a whole batch of charges.
 *
 * - Atomicity: the script. Family: code that runs in the server. Only what certainly was not run is sent again: a script that the
 *   server does not know (`NOSCRIPT`), and what a Cluster's node refuses because a slot has moved.
 * - In a Cluster, a script sees the keys of one slot. A charge whose keys live in several slots is decided slot by slot, and
 *   what it took is given back when a later slot denies: never more than a limit is admitted, and for the time of some
 *   round trips up to the cost of such a charge is taken too much.
 * - Clock: the server's `TIME`.
 * - States expire by themselves when they equal fresh ones, up to a sixteenth of a bucket's span or a slice later.
 * - `client` is the user's ioredis client, version 5 or 6, a `Redis` or a `Cluster`. It is never closed, and its `keyPrefix` is
 *   respected. While it makes its first connection, charges wait for it; later they fail at once with `StoreError` while it is not
 *   connected, instead of waiting in its queue.
 *
 * Throws a `TypeError` for what is no such client.
 */
export function redisStore(client: RedisClient | RedisClusterClient): Store {
  if (!isRedisClient(client)) {
    const mend = 'Write redisStore(new Redis(url)).'
    throw wrongKind('redisStore', 'client', 'an ioredis client', client, mend)
  }
  const courier = isClusterClient(client) ? clusterCourier(client) : serverCourier(client)
  const bounds = { maxWeight: MAX_KEYS, maxInFlight: MAX_IN_FLIGHT, stallTimeoutMs: STALL_TIMEOUT_MS }
  const byCharge = { ...bounds, weigh: ({ length }: Charge) => length }
  const take = batcher(runScript(courier, TAKING), byCharge)
  const refund = noAnswer(batcher(runScript(courier, REFUNDING), bounds))
  const forget = noAnswer(batcher(unlinkBy(courier), bounds))
  const { placeOf } = courier
  const charge = placeOf
    ? crossShardCharge({ shardOf: placeOf, charge: take, refund, onRefundFailed: onNotGivenBack })
    : take
  return {
    name: 'redis',
    charge: checkedBy((charges) => {
      checkCharges('redisStore', charges)
      for (const each of charges) checkPolicies(each)
    }, charge),
    refund: checkedBy((refunds) => {
      checkRefunds('redisStore', refunds)
      checkPolicies(refunds)
    }, refund),
    forget,
  }
}

/** Rejects with what `check` throws, and asks without a further turn for what is good. */
function checkedBy<Item, Answer>(
  check: (items: readonly Item[]) => void,
  ask: (items: readonly Item[]) => Promise<Answer>,
): (items: readonly Item[]) => Promise<Answer> {
  return (items) => {
    try {
      check(items)
    } catch (error) {
      return Promise.reject(error)
    }
    return ask(items)
  }
}

/** One command a key, so that it does not matter whether the keys of a slot are all in one place. */
function unlinkBy({ placeOf = () => 0, send }: Courier): Send<KeyedPolicy, true> {
  return async (held, answer) => {
    const replies = send(held.map(({ key }) => ({ place: placeOf(key), words: ['unlink', key] })))
    await Promise.all(
      replies.map((reply, i) =>
        reply.then(
          () => answer(i, true),
          (error: unknown) => answer(i, asStoreError(error)),
        ),
      ),
    )
  }
}

function onNotGivenBack(reason: unknown): void {
  warnOnce(
    'HEADGATE_REDIS_NOT_GIVEN_BACK',
    'headgate: a charge over several slots was denied, and what it had taken before could not be given back. It stays ' +
      `taken until it is refilled. (${reason instanceof Error ? reason.message : reason})`,
  )
}

function noAnswer<T>(ask: (items: readonly T[]) => Promise<unknown>): (items: readonly T[]) => Promise<void> {
  return async (items) => {
    await ask(items)
  }
}
