import type { Socket } from 'node:net'
import { groupBy } from '../../util/group-by.js'
import { weakMemo } from '../../util/memo.js'
import { messageOf, StoreError } from '../store-error.js'
import { type MemcachedClient, type MemcachedReply, type MemcachedServer, serverFor } from './client.js'
import { statusError } from './errors.js'
import { encodeRequests, type MemcachedRequest, remove, STATUS } from './protocol.js'

/** How long a connection may owe a reply before it is dropped, unless memjs' own time-out comes first. */
const STALL_TIMEOUT_MS = 1000

/** Requests written in one turn of the event loop, so that a burst leaves time to read replies. */
const MAX_PER_TURN = 2048

/** Sends requests over the connections of a memjs client. Never sends one twice. */
export interface Transport {
  /**
   * Sends a request to the server that holds `routingKey`, so that all items of one key share a server.
   * Requests of one tick go to each server in one write. Returns the reply, whatever its status; rejects
   * with `StoreError` where there is none.
   */
  request(routingKey: string, request: MemcachedRequest): Promise<MemcachedReply>
  /** Returns the connection to the server of `routingKey`, within which CAS tokens are comparable. */
  socketOf(routingKey: string): Socket | undefined
}

interface PendingRequest {
  readonly routingKey: string
  readonly request: MemcachedRequest
  resolve(reply: MemcachedReply): void
  reject(error: StoreError): void
}

/** Creates a transport over the connections that a memjs client opens. */
export function memjsTransport(client: MemcachedClient): Transport {
  const queued: PendingRequest[] = []

  function flush(): void {
    const batch = queued.splice(0, MAX_PER_TURN)
    if (queued.length > 0) setImmediate(flush)
    for (const [server, requests] of groupBy(batch, ({ routingKey }) => serverFor(client, routingKey))) {
      if (server) write(client, server, requests)
      else failAll(requests, noReplyError(new Error('no server is available')))
    }
  }

  return {
    request: (routingKey, request) =>
      new Promise((resolve, reject) => {
        if (queued.push({ routingKey, request, resolve, reject }) === 1) process.nextTick(flush)
      }),
    socketOf: (routingKey) => serverFor(client, routingKey)?._socket,
  }
}

/** Removes an item that may not exist. */
export async function removeItem({ request }: Transport, routingKey: string, key: string): Promise<void> {
  const removing = remove(key)
  const reply = await request(routingKey, removing)
  const { status } = reply.header
  if (status !== STATUS.ok && status !== STATUS.notFound) throw statusError(removing, reply)
}

function write(client: MemcachedClient, server: MemcachedServer, batch: readonly PendingRequest[]): void {
  const pipelineOn = pipelinesOf(server)
  let pipeline: Pipeline | undefined
  const seqs = batch.map((pending) => {
    client.incrSeq()
    const seq = client.seq >>> 0
    server.onResponse(seq, (reply) => pipeline?.settle(pending, reply))
    return seq
  })
  // memjs drops the error callback of an answered request, and replies come in order: the last one's stays.
  server.onError(seqs.at(-1) as number, (cause) => pipeline?.fail(cause))
  const requests = batch.map(({ request }) => request)
  try {
    server.write(encodeRequests(requests, seqs)) // which opens a connection where there is none
    pipeline = pipelineOn(server._socket as Socket)
    pipeline.add(batch)
  } catch (cause) {
    failAll(batch, noReplyError(cause, server)) // an invalid port, for example
  }
}

/** Returns the pipelines of a server's connections, past and present. */
const pipelinesOf = weakMemo((server: MemcachedServer) => {
  // After a lost connection memjs 1.3.2 would append the next reply to the received half of one.
  server.on('authenticated', () => {
    server.responseBuffer = Buffer.alloc(0)
  })
  return weakMemo((socket: Socket) => {
    isolate(server, socket)
    return new Pipeline(server, socket)
  })
})

/**
 * Corrects how memjs 1.3.2 handles the end of a connection. It mistakes the end of one that it has dropped
 * for the end of its present one, which it then never closes, or whose requests it fails; and when a server
 * closes a connection in good order, memjs never calls back.
 */
function isolate(server: MemcachedServer, socket: Socket): void {
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

/** The requests on one connection that have no reply yet, oldest first. */
class Pipeline {
  readonly #server: MemcachedServer
  readonly #socket: Socket
  readonly #pending = new Set<PendingRequest>()
  #timer: NodeJS.Timeout | undefined
  #progressAtMs = 0

  constructor(server: MemcachedServer, socket: Socket) {
    this.#server = server
    this.#socket = socket
  }

  add(batch: readonly PendingRequest[]): void {
    if (this.#pending.size === 0) this.#progressAtMs = performance.now()
    for (const pending of batch) this.#pending.add(pending)
    if (this.#timer === undefined) this.#checkIn(STALL_TIMEOUT_MS)
  }

  settle(pending: PendingRequest, reply: MemcachedReply): void {
    if (!this.#pending.delete(pending)) return // it has failed already
    this.#progressAtMs = performance.now()
    pending.resolve(reply)
  }

  /** memjs only ends its own half of a connection that it drops; a server that hangs never ends the other. */
  fail(cause: unknown): void {
    this.#socket.destroy()
    const pending = [...this.#pending]
    this.#pending.clear()
    failAll(pending, noReplyError(cause, this.#server))
  }

  /** Replies that arrived while the process was busy are read before the check. */
  #checkIn(ms: number): void {
    this.#timer = setTimeout(() => setImmediate(() => this.#check()), ms).unref()
  }

  #check(): void {
    this.#timer = undefined
    if (this.#pending.size === 0) return
    const leftMs = this.#progressAtMs + STALL_TIMEOUT_MS - performance.now()
    if (leftMs > 0) {
      this.#checkIn(leftMs)
      return
    }
    const stalled = new Error(`no reply within ${STALL_TIMEOUT_MS} ms`)
    if (this.#server._socket === this.#socket) this.#server.error(stalled)
    this.fail(stalled)
  }
}

function failAll(batch: readonly PendingRequest[], error: StoreError): void {
  for (const { reject } of batch) reject(error)
}

function noReplyError(cause: unknown, server?: MemcachedServer): StoreError {
  const address = server ? `${server.host}:${server.port}: ` : ''
  return new StoreError('memcached', address + messageOf(cause), { cause })
}
