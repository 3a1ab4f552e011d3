import type { Socket } from 'node:net'
import { RecentMap } from '../../util/recent-map.js'
import { type StoredState, type SwapAccess, swapLoop } from '../builders/swap-loop.js'
import type { ApplyToKey } from '../shared/by-key.js'
import { decodeState, encodeState } from '../shared/state-codec.js'
import type { MemcachedTransport } from './connection.js'
import { statusError } from './errors.js'
import { CHANGED, casIn, expirationOf, get, hasFlags, remove, STATUS, swap, valueIn } from './protocol.js'

/** How many keys have their last state cached, at least. */
const MIN_KEYS = 100_000

/** A state in memcached. Its version is the item's CAS token. */
type StoredItem = StoredState<bigint>

/**
 * An item that this process wrote, and by which connection: a restarted server counts tokens from 1 again.
 */
interface CachedItem extends StoredItem {
  readonly socket: Socket
}

/**
 * Creates the strategy of compare-and-swap. The last item that this process wrote is cached, so a key that
 * only this process changes costs one round trip.
 */
export function casStrategy(transport: MemcachedTransport): ApplyToKey {
  const written = new RecentMap<CachedItem>(MIN_KEYS)

  function cached(key: string): StoredItem | undefined {
    const item = written.get(key)
    return item?.socket === transport.socketOf(key) ? item : undefined
  }

  async function read(key: string): Promise<StoredItem | undefined> {
    const request = get(key)
    const reply = await transport.request(key, request)
    if (reply.status === STATUS.notFound) return undefined
    if (reply.status !== STATUS.ok) throw statusError(request, reply)
    const state = hasFlags(reply) ? decodeState(valueIn(reply)) : undefined
    return { state: state ?? null, version: casIn(reply) }
  }

  const write: SwapAccess<bigint>['swap'] = ({ key, version, state, ttlMs }, settle, fail) => {
    const expiration = expirationOf(ttlMs, Date.now())
    const request = state ? swap(key, encodeState(state), expiration, version) : remove(key, version)
    transport.send(key, request, (reply) => {
      const socket = transport.socketOf(key)
      const isWritten = !(reply instanceof Error) && reply.status === STATUS.ok
      if (isWritten && state && socket) written.set(key, { state, version: casIn(reply), socket })
      else written.delete(key)
      if (reply instanceof Error) fail(reply)
      else if (isWritten || CHANGED.includes(reply.status)) settle(isWritten)
      else fail(statusError(request, reply))
    })
  }

  return swapLoop('memcached', { read, swap: write, now: Date.now, cached })
}
