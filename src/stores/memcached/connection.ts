import type { Socket } from 'node:net'
import { afterCode, afterTurn } from '../../util/defer.js'
import type { StoreError } from '../store-error.js'
import { addressOf, channelTo, failAll, type PendingRequest } from './channel.js'
import type { MemcachedClient, MemcachedServer } from './client.js'
import { statusError } from './errors.js'
import { type MemcachedRequest, type Reply, remove, STATUS } from './protocol.js'

/** Requests written in one turn of the event loop, so that a burst leaves time to read replies. */
const MAX_PER_TURN = 2048

/** Sends requests over the connections of a memjs client. Never sends one twice. */
export interface MemcachedTransport {
  /**
   * Sends a request to the server that holds `routingKey`, so that all items of one key share a server.
   * Requests of one tick go to each server in one write. Calls `settle` once, later: with the reply, whatever
   * its status, or with a `StoreError` if there is none.
   */
  send(routingKey: string, request: MemcachedRequest, settle: (reply: Reply | StoreError) => void): void
  /** Sends a request. Resolves with the reply; rejects with a `StoreError` if there is none. */
  request(routingKey: string, request: MemcachedRequest): Promise<Reply>
  /** Returns the connection to the server of `routingKey`, within which CAS tokens are comparable. */
  socketOf(routingKey: string): Socket | undefined
  /** Returns the address of the server of `routingKey`. */
  serverOf(routingKey: string): string | undefined
}

/** Creates the transport through a memjs client. */
export function memjsTransport(client: MemcachedClient): MemcachedTransport {
  let queued: (PendingRequest & { readonly routingKey: string })[] = []

  function flush(): void {
    const batch = queued.length > MAX_PER_TURN ? queued.splice(0, MAX_PER_TURN) : queued
    if (batch === queued) queued = []
    else afterTurn(flush)
    const byServer = new Map<MemcachedServer | undefined, PendingRequest[]>()
    for (const pending of batch) {
      client.incrSeq()
      pending.seq = client.seq >>> 0
      const server = serverFor(client, pending.routingKey)
      const requests = byServer.get(server)
      if (requests === undefined) byServer.set(server, [pending])
      else requests.push(pending)
    }
    for (const [server, requests] of byServer) {
      if (server) channelTo(server).write(requests)
      else failAll(requests, new Error('no server is available'))
    }
  }

  const send: MemcachedTransport['send'] = (routingKey, request, settle) => {
    if (queued.push({ routingKey, request, settle, seq: 0 }) === 1) afterCode(flush)
  }
  return {
    send,
    request: (routingKey, request) =>
      new Promise((resolve, reject) =>
        send(routingKey, request, (reply) => (reply instanceof Error ? reject(reply) : resolve(reply))),
      ),
    socketOf: (routingKey) => serverFor(client, routingKey)?._socket,
    serverOf(routingKey) {
      const server = serverFor(client, routingKey)
      return server && addressOf(server)
    },
  }
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

/** Returns the server that holds a key; nothing when none is available or the user's `getServer` throws. */
function serverFor(client: MemcachedClient, key: string): MemcachedServer | undefined {
  try {
    return client.server(key) ?? undefined
  } catch {
    return undefined
  }
}
