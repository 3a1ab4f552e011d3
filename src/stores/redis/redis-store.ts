import { wrongOption } from '../../checks.js'
import type { StoreError } from '../../errors.js'
import { groupBy } from '../../group-by.js'
import { batcher } from '../batcher.js'
import type { Charge, Store, Verdict } from '../store.js'
import { clusterCourier } from './cluster-courier.js'
import { asStoreError, type Command, type Courier } from './courier.js'
import { decideSpread } from './decide-spread.js'
import { isClusterClient, isRedisClient, type RedisClient, type RedisClusterClient } from './redis-client.js'
import { runScript } from './run-script.js'
import { serverCourier } from './server-courier.js'
import { REFUNDING, TAKING } from './work.js'

/** Keys in one script call: enough to spread its cost, few enough not to keep other clients of the server waiting. */
const MAX_KEYS = 256
/** One batch is decided while the next one is on its way. They go over one connection, so the order is kept. */
const MAX_IN_FLIGHT = 2

/**
 * Keeps states in Redis or Valkey, for any number of processes: one script call decides a whole batch of charges.
 *
 * - Atomicity: the script. Family: code that runs in the server. Nothing is sent twice; only a script that the server does
 *   not know (`NOSCRIPT`) is sent once more, with its text.
 * - In a Cluster, a script sees the keys of one slot. A charge whose keys live in several slots is decided slot by slot, and
 *   what it took is given back when a later slot denies: never more than a limit is admitted, and for the time of some
 *   round trips up to the cost of such a charge is taken too much.
 * - Clock: the server's `TIME`.
 * - States expire by themselves at the millisecond in which they equal fresh ones.
 * - `client` is the user's ioredis client, version 5 or 6, a `Redis` or a `Cluster`. It is never closed, and its `keyPrefix` is
 *   respected. Once it has been ready, charges fail at once with `StoreError` while it is not, instead of waiting in its
 *   queue.
 *
 * Throws a `TypeError` for what is no such client.
 */
export function redisStore(client: RedisClient | RedisClusterClient): Store {
  if (!isRedisClient(client)) {
    const mend = 'Write redisStore(new Redis(url)).'
    throw wrongOption('redisStore', 'client', 'an ioredis client', client, mend)
  }
  const courier = isClusterClient(client) ? clusterCourier(client) : serverCourier(client)
  const bounds = { maxWeight: MAX_KEYS, maxInFlight: MAX_IN_FLIGHT }
  return {
    name: 'redis',
    charge: batcher<Charge, Verdict>((charges) => decide(courier, charges), {
      ...bounds,
      weigh: ({ length }) => length,
    }),
    refund: noAnswer(batcher((refunds) => runScript(courier, REFUNDING, refunds), bounds)),
    forget: noAnswer(batcher((keys) => unlink(courier, keys), bounds)),
  }
}

function decide(courier: Courier, charges: readonly Charge[]): Promise<readonly (Verdict | StoreError)[]> {
  const { placeOf } = courier
  return placeOf === undefined ? runScript(courier, TAKING, charges) : decideSpread(courier, placeOf, charges)
}

async function unlink({ placeOf = () => 0, send }: Courier, keys: readonly string[]): Promise<unknown[]> {
  const commands = Array.from(groupBy(keys, placeOf), ([place, group]): Command => {
    return { place, words: ['unlink', ...group] }
  })
  await Promise.all(send(commands)).catch((error: unknown) => {
    throw asStoreError(error)
  })
  return keys.map(() => true)
}

function noAnswer<T>(ask: (items: readonly T[]) => Promise<unknown>): (items: readonly T[]) => Promise<void> {
  return async (items) => {
    await ask(items)
  }
}
