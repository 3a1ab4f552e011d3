import { show, wrongKind } from '../../util/validate.js'
import { crossShardCharge } from '../shared/cross-shard.js'
import { checkRefunds } from '../shared/validate.js'
import type { KeyedPolicy, Part, Refund, Store } from '../store.js'
import { StoreError } from '../store-error.js'
import { swapping } from './cas-strategy.js'
import { isMemcachedClient, type MemcachedClient, serverFor } from './client.js'
import { connectionOf } from './connections.js'
import { counting } from './counter-strategy.js'
import { countersOf } from './counters.js'
import { decideByKey } from './dispatch.js'
import { lossWatch } from './eviction-canary.js'
import { itemKey } from './item-keys.js'
import { link } from './link.js'
import { tellNotGivenBack } from './not-given-back.js'

/**
 * Keeps states in memcached, for any number of processes, without locks.
 *
 * - Atomicity: `fixedWindow`, `slidingWindow` and `consecutive` are counters, counted by `increment` first and given back when
 *   denied; `tokenBucket` and `ban` are one value, changed by compare-and-swap with a bounded number of attempts (30, then `StoreError`). Family:
 *   compare-and-swap.
 * - A charge of several keys is decided key by key, and what it took is given back when a later key denies: never more than a
 *   limit is admitted, and for the time of some round trips up to the cost of such a charge is taken too much.
 * - Clock: this process's, in whole milliseconds. Processes that share limits should keep their clocks together.
 * - Items expire at the earliest when their state equals a fresh one, one to three seconds later as a rule.
 * - `client` is the user's memjs client, version 1.3. It is never closed. Nothing is sent twice, whatever its `retries` are.
 *
 * Throws a `TypeError` for what is no such client.
 */
export function memcachedStore(client: MemcachedClient): Store {
  if (!isMemcachedClient(client)) {
    const mend = "Write memcachedStore(Client.create('127.0.0.1:11211'))."
    throw wrongKind('memcachedStore', 'client', 'a memjs client', client, mend)
  }
  const now = Date.now
  const ask = link(client)
  const lossListeners = new Set<(error: StoreError) => void>()
  const watch = lossWatch(client, ask, (server) => tell(lossListeners, server), now)
  const counted = counting(ask, watch)
  const swapped = swapping(ask, watch, (key) => connectionOf(serverFor(client, key)))

  const { decide, swapInTurn } = decideByKey(counted, swapped, now)

  async function refund(refunds: readonly Refund[]): Promise<void> {
    checkWhole(refunds)
    checkRefunds('memcachedStore', refunds)
    await Promise.all(refunds.map(refundOne))
  }

  async function refundOne(refund: Refund): Promise<void> {
    const key = itemKey(refund.key)
    const counters = countersOf(refund.policy)
    const outcome = counters
      ? await new Promise((resolve) => counted.refund(key, refund, counters, now(), resolve))
      : (await swapInTurn(key, [{ refund }]))[0]
    if (outcome instanceof StoreError) throw outcome
  }

  async function forget(held: readonly KeyedPolicy[]): Promise<void> {
    await Promise.all(
      held.map(({ key, policy }) => {
        const counters = countersOf(policy)
        return counters ? counted.forget(itemKey(key), counters, now()) : swapped.forget(itemKey(key))
      }),
    )
  }

  const chargeKeys = crossShardCharge({
    shardOf: (key) => key,
    charge: (charges) => decide(charges.map((charge) => ({ charge }))),
    refund,
    onRefundFailed: tellNotGivenBack,
  })

  return {
    name: 'memcached',
    async charge(charges) {
      for (const each of charges) checkWhole(each)
      return chargeKeys(charges)
    },
    refund,
    forget,
    onLimitsLost: (listener) => {
      lossListeners.add(listener)
      return () => lossListeners.delete(listener)
    },
  }
}

/** memcached counts in whole units. */
function checkWhole(parts: readonly Part[]): void {
  for (const { cost } of parts) {
    if (Number.isSafeInteger(cost) && cost >= 0) continue
    throw new TypeError(`memcachedStore: a cost must be a whole number of at least 0, got ${show(cost)}.`)
  }
}

function tell(listeners: ReadonlySet<(error: StoreError) => void>, server: string): void {
  const message = `${server} has lost live limits: it evicted them, was flushed or restarted`
  for (const listener of listeners) listener(new StoreError('memcached', message, { answered: true }))
}
