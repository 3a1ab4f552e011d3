import { withClient } from '../shared/client-of.js'
import { crossShardCharge } from '../shared/cross-shard.js'
import { withSubmit } from '../shared/submit.js'
import { checkCosts, checkOperations, checkRefunds } from '../shared/validate.js'
import type { KeyedPolicy, Refund, Store, Verdict } from '../store.js'
import { type MemcachedClient, readClient } from './client.js'
import { memjsTransport } from './connection.js'
import { dispatcher } from './dispatch.js'
import { lossMonitor } from './loss-monitor.js'

/**
 * Creates a store that keeps states in memcached, for any number of processes, without locks.
 *
 * - Family: `fixedWindow`, `slidingWindow` and `consecutive` are counters by `incr`; `tokenBucket`, `ban` and
 *   a `fixedWindow` from the first request are one value, changed by compare-and-swap. It is retried for two
 *   seconds, at most thirty times; then it rejects with `StoreError`.
 * - Bound: never more than a limit is admitted, if clocks are less than a second apart. A charge of several
 *   keys is decided key by key. When a later key denies, the earlier ones are refunded; until then others may
 *   be denied for those units.
 * - Clock: this process's, in whole milliseconds. Synchronize the clocks of processes that share limits: a
 *   second apart is too much, and windows of the clock count apart around their borders.
 * - Items expire one to three seconds after their state equals a fresh one, never earlier.
 * - `client` is the user's memjs client, version 1.3. The store never closes it, and sends no request
 *   twice, whatever the client's `retries` are.
 *
 * Throws a `TypeError` for anything but such a client.
 */
export function memcachedStore(client: MemcachedClient): Store {
  const keys = dispatcher(memjsTransport(readClient(client)))
  const losses = lossMonitor(client, Date.now)

  async function refund(refunds: readonly Refund[]): Promise<void> {
    checkRefunds('memcachedStore', refunds)
    await Promise.all(refunds.map(keys.refund))
  }

  const chargeAcrossKeys = crossShardCharge({ shardOf: (key) => key, charge: keys.charges.submitAll, refund })

  const store: Store = {
    name: 'memcached',
    async charge(charges) {
      for (const charge of charges) checkCosts('memcachedStore', charge)
      losses.poll()
      return chargeAcrossKeys(charges)
    },
    refund,
    async forget(keyed: readonly KeyedPolicy[]) {
      await Promise.all(keyed.map(keys.forget))
    },
    async apply(operations) {
      checkOperations('memcachedStore', operations)
      return Promise.all(operations.map(keys.apply))
    },
    onLimitsLost: losses.subscribe,
    ...(client.servers.length > 1 && { serverOf: keys.serverOf }),
  }
  return withSubmit(withClient(store, client), (charge, settle) => {
    checkCosts('memcachedStore', charge)
    losses.poll()
    if (charge.length === 1) keys.charges.submit(charge, settle)
    else chargeAcrossKeys([charge]).then(([verdict]) => settle(verdict as Verdict), settle)
  })
}
