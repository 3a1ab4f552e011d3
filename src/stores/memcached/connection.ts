import type { Socket } from 'node:net'
import { afterCode, afterTurn } from '../../util/defer.js'
import { type Deadline, Deadlines, TimeoutError } from '../../util/timeout.js'
import type { StoreError } from '../store-error.js'
import type { MemcachedClient, MemcachedReply, MemcachedServer } from './client.js'
import { connectionError, statusError } from './errors.js'
import { encodeRequests, type MemcachedRequest, remove, STATUS } from './protocol.js'

/** A connection that leaves a request unanswered for a second is dropped, unless memjs drops it earlier. */
const SILENCE_MS = 1000
const deadlines = new Deadlines(SILENCE_MS)

/** Requests written in one turn of the event loop, so that a burst leaves time to read replies. */
const MAX_PER_TURN = 2048

/** Sends requests over the connections of a memjs client. Never sends one twice. */
export type MemcachedTransport = ReturnType<typeof memjsTransport>

interface PendingRequest {
  readonly routingKey: string
  readonly request: MemcachedRequest
  resolve(reply: MemcachedReply): void
  reject(error: StoreError): void
}

export function memjsTransport(client: MemcachedClient) {
  const queued: PendingRequest[] = []

  function flush(): void {
    const batch = queued.splice(0, MAX_PER_TURN)
    if (queued.length > 0) afterTurn(flush)
    const byServer = new Map<MemcachedServer | undefined, PendingRequest[]>()
    for (const pending of batch) {
      const server = serverFor(client, pending.routingKey)
      const group = byServer.get(server)
      if (group === undefined) byServer.set(server, [pending])
      else group.push(pending)
    }
    for (const [server, requests] of byServer) {
      if (server) write(client, server, requests)
      else failAll(requests, new Error('no server is available'))
    }
  }

  return {
    /**
     * Sends a request to the server that holds `routingKey`, so that all items of one key share a server.
     * Requests of one tick go to each server in one write. Returns the reply, whatever its status; rejects
     * with `StoreError` where there is none.
     */
    request: (routingKey: string, request: MemcachedRequest) =>
      new Promise<MemcachedReply>((resolve, reject) => {
        if (queued.push({ routingKey, request, resolve, reject }) === 1) afterCode(flush)
      }),
    /** Returns the connection to the server of `routingKey`, within which CAS tokens are comparable. */
    socketOf: (routingKey: string) => serverFor(client, routingKey)?._socket,
    /** Returns the address of the server of `routingKey`. */
    serverOf(routingKey: string): string | undefined {
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
  const { status } = reply.header
  if (status !== STATUS.ok && status !== STATUS.notFound) throw statusError(removing, reply)
}

/** Sends a batch. Its requests fail when the connection ends, or when the server is silent for a second. */
function write(client: MemcachedClient, server: MemcachedServer, batch: readonly PendingRequest[]): void {
  if (!patched.has(server)) patchServer(server)
  const requests: MemcachedRequest[] = []
  const seqs: number[] = []
  let lastSeq = 0
  let replies = 0
  let deadline: Deadline | undefined
  for (const pending of batch) {
    client.incrSeq()
    const seq = client.seq >>> 0
    lastSeq = seq
    seqs.push(seq)
    requests.push(pending.request)
    server.onResponse(seq, (reply) => {
      pending.resolve(reply)
      if (++replies === batch.length && deadline !== undefined) deadlines.stop(deadline)
    })
  }
  try {
    server.write(encodeRequests(requests, seqs)) // which opens a connection where there is none
  } catch (cause) {
    failAll(batch, cause, server) // an invalid port, for example
    return
  }
  const socket = server._socket
  if (socket === undefined) {
    failAll(batch, new Error('there is no connection'), server)
    return
  }
  if (!patched.has(socket)) patchSocket(server, socket)
  // memjs drops the error callback of a request that got its reply: the last one's stays.
  server.onError(lastSeq, (cause) => {
    socket.destroy() // memjs only ends its own half of some; a server that hangs never ends the other
    failAll(batch, cause, server)
  })
  let repliesBefore = 0
  const failIfSilent = () => {
    if (server._socket !== socket) return
    if (replies === repliesBefore) server.error(new TimeoutError(SILENCE_MS))
    else {
      repliesBefore = replies
      deadline = deadlines.start(failIfSilent)
    }
  }
  deadline = deadlines.start(failIfSilent)
}

/** The servers and the connections that are patched. */
const patched = new WeakSet<object>()

/** After a lost connection memjs 1.3.2 would append the next reply to the received half of one. */
function patchServer(server: MemcachedServer): void {
  patched.add(server)
  server.on('authenticated', () => {
    server.responseBuffer = Buffer.alloc(0)
  })
}

/**
 * Corrects how memjs 1.3.2 handles the end of a connection. It mistakes the end of one that it has dropped
 * for the end of its present one, which it then never closes, or whose requests it fails; and when a server
 * closes a connection in good order, memjs never calls back.
 */
function patchSocket(server: MemcachedServer, socket: Socket): void {
  patched.add(socket)
  for (const event of ['error', 'close']) {
    const listeners = socket.listeners(event)
    socket.removeAllListeners(event).on(event, (...args: unknown[]) => {
      const isGone = server._socket === undefined
      if (!isGone && server._socket !== socket) return
      if (event === 'close' && isGone) server.connected = false
      else for (const listener of listeners) Reflect.apply(listener, socket, args)
      if (event === 'close') server.error(new Error('the connection was closed'))
    })
  }
}

function failAll(batch: readonly PendingRequest[], cause: unknown, server?: MemcachedServer): void {
  const error = connectionError(cause, server && addressOf(server))
  for (const { reject } of batch) reject(error)
}

function addressOf({ host, port }: MemcachedServer): string {
  return `${host}:${port}`
}

/** Returns the server that holds a key; nothing when none is available or the user's `getServer` throws. */
function serverFor(client: MemcachedClient, key: string): MemcachedServer | undefined {
  try {
    return client.server(key) ?? undefined
  } catch {
    return undefined
  }
}
