import { afterCode } from '../../util/defer.js'
import { Channel } from './channel.js'
import type { MemcachedClient, MemcachedServer } from './client.js'
import { connectionError, statusError } from './errors.js'
import { type MemcachedRequest, type Reply, remove, STATUS } from './protocol.js'

/** The channel to a server, or the one that takes its place if there is no server. */
export type AnyChannel = Pick<Channel, 'send'> & { readonly server: MemcachedServer | undefined }

/** Sends requests over the connections of a memjs client. Never sends one twice. */
export interface MemcachedTransport {
  /**
   * Returns the channel to the server that holds `routingKey`, so that all items of one key share a server.
   */
  channelOf(routingKey: string): AnyChannel
  /** Sends a request. Resolves with the reply; rejects with a `StoreError` if there is none. */
  request(routingKey: string, request: MemcachedRequest): Promise<Reply>
}

/** The channel to each server. */
const channels = new WeakMap<MemcachedServer, Channel>()

/** Fails each request. Used if no server is available, or if the user's `getServer` throws. */
const NO_CHANNEL: AnyChannel = {
  server: undefined,
  send(_request, settle) {
    afterCode(() => settle(connectionError(new Error('no server is available'), undefined)))
  },
}

/** Creates the transport through a memjs client. */
export function memjsTransport(client: MemcachedClient): MemcachedTransport {
  function channelOf(routingKey: string): AnyChannel {
    try {
      const server = client.server(routingKey)
      return server ? (channels.get(server) ?? openChannel(client, server)) : NO_CHANNEL
    } catch {
      return NO_CHANNEL
    }
  }

  return {
    channelOf,
    request: (routingKey, request) =>
      new Promise((resolve, reject) =>
        channelOf(routingKey).send(request, (reply) =>
          reply instanceof Error ? reject(reply) : resolve(reply),
        ),
      ),
  }
}

function openChannel(client: MemcachedClient, server: MemcachedServer): Channel {
  const channel = new Channel(client, server)
  channels.set(server, channel)
  return channel
}

/** Removes an item that may not exist. */
export async function removeItem(
  { request }: MemcachedTransport,
  routingKey: string,
  key: string,
): Promise<void> {
  const removing = remove(key)
  const reply = await request(routingKey, removing)
  if (reply.status !== STATUS.ok && reply.status !== STATUS.notFound) throw statusError(removing, reply)
}
