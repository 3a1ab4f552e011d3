import type { Socket } from 'node:net'
import type { ApplyToKey } from '../../pipe/by-key.js'
import { RecentMap } from '../../util/recent-map.js'
import type { StoredState } from '../builders/stored-state.js'
import { type SwapAccess, swapLoop } from '../builders/swap-loop.js'
import type { AnyChannel, MemcachedTransport } from './connection.js'
import { statusError } from './errors.js'
import { CHANGED, expirationOf, get, hasFlags, remove, STATUS, swap, valueIn } from './protocol.js'
import { endOf, stateItemIn } from './state-item.js'

/** How many keys have their last state cached, at least. */
const MIN_KEYS = 100_000

/**
 * The version of an item: its CAS token, and the connection on which the server sent it. Tokens of two
 * connections are not comparable, because a restarted server counts from 1 again.
 */
interface ItemVersion {
  readonly cas: bigint
  readonly channel: AnyChannel
  readonly socket: Socket | undefined
  /** In ms since the Unix epoch. */
  readonly expiresAtMs: number
}

type StoredItem = StoredState<ItemVersion>

/**
 * Creates the strategy of compare-and-swap. The last item that this process wrote is cached, so a key that
 * only this process changes costs one round trip.
 */
export function casStrategy(transport: MemcachedTransport): ApplyToKey {
  const written = new RecentMap<StoredItem>(MIN_KEYS)

  function cached(key: string): StoredItem | undefined {
    const item = written.get(key)
    if (item === undefined) return undefined
    const channel = transport.channelOf(key)
    const { version } = item
    return version.channel === channel && version.socket === channel.server?._socket ? item : undefined
  }

  async function read(key: string): Promise<StoredItem | undefined> {
    const request = get(key)
    const channel = transport.channelOf(key)
    const reply = await transport.request(key, request)
    if (reply.status === STATUS.notFound) return undefined
    if (reply.status !== STATUS.ok) throw statusError(request, reply)
    const { state = null, expiresAtMs = 0 } = (hasFlags(reply) && stateItemIn(valueIn(reply))) || {}
    const version = { cas: reply.cas, channel, socket: channel.server?._socket, expiresAtMs }
    return { state, version }
  }

  const write: SwapAccess<ItemVersion>['swap'] = (change, settle, fail) => {
    const { key, version, state, ttlMs, keepsExpiry } = change
    const cas = version?.cas
    const nowMs = Date.now()
    const expiresAtMs = Math.max(nowMs + ttlMs, keepsExpiry && version ? version.expiresAtMs : 0)
    const request = state
      ? { ...swap(key, state, expirationOf(expiresAtMs - nowMs, nowMs), cas), end: endOf(expiresAtMs) }
      : remove(key, cas)
    const channel = version?.channel ?? transport.channelOf(key)
    channel.send(request, (reply) => {
      const isWritten = !(reply instanceof Error) && reply.status === STATUS.ok
      const socket = channel.server?._socket
      if (isWritten && state && socket)
        written.set(key, { state, version: { cas: reply.cas, channel, socket, expiresAtMs } })
      else written.delete(key)
      if (reply instanceof Error) fail(reply)
      else if (isWritten || CHANGED.includes(reply.status)) settle(isWritten)
      else fail(statusError(request, reply))
    })
  }

  return swapLoop('memcached', { read, swap: write, now: Date.now, cached })
}
