import type { Socket } from 'node:net'
import { groupBy } from '../../util/group-by.js'
import { StoreError } from '../store-error.js'
import { type MemcachedClient, type MemcachedReply, type MemcachedServer, serverFor } from './client.js'
import { statusError } from './errors.js'
import { encodeRequests, type MemcachedRequest, remove, STATUS } from './protocol.js'

/** A connection without a reply for so long is dropped, unless memjs' own time-out comes first. */
const STALL_TIMEOUT_MS = 1000

/** Requests written in one turn of the event loop: so a burst leaves time to read replies. */
const MAX_PER_TURN = 2048

/** Sends requests over the connections of a memjs client. Never sends one twice. */
export interface Transport {
  /**
   * Sends a request to the server that holds `homeKey`, so that all items of one key share a server.
   * Requests of one tick go to each server in one write. Returns the reply, whatever its status; rejects
   * with `StoreError` where there is none.
   */
  request(homeKey: string, request: MemcachedRequest): Promise<MemcachedReply>
  /** Returns the connection to the server of `homeKey`. CAS tokens are comparable within one only. */
  socketOf(homeKey: string): Socket | undefined
}

interface PendingRequest {
  readonly homeKey: string
  readonly request: MemcachedRequest
  resolve(reply: MemcachedReply): void
  reject(error: StoreError): void
}

export function memjsTransport(client: MemcachedClient): Transport {
  const queued: PendingRequest[] = []

  function flush(): void {
    const batch = queued.splice(0, MAX_PER_TURN)
    if (queued.length > 0) setImmediate(flush)
    for (const [server, requests] of groupBy(batch, ({ homeKey }) => serverFor(client, homeKey))) {
      if (server) write(client, server, requests)
      else failAll(requests, noReplyError(new Error('no server is available')))
    }
  }

  return {
    request: (homeKey, request) =>
      new Promise((resolve, reject) => {
        if (queued.push({ homeKey, request, resolve, reject }) === 1) process.nextTick(flush)
      }),
    socketOf: (homeKey) => serverFor(client, homeKey)?._socket,
  }
}

/** Removes an item that may not exist. */
export async function removeItem({ request }: Transport, homeKey: string, key: string): Promise<void> {
  const removing = remove(key)
  const reply = await request(homeKey, removing)
  const { status } = reply.header
  if (status !== STATUS.ok && status !== STATUS.notFound) throw statusError(removing, reply)
}

function write(client: MemcachedClient, server: MemcachedServer, batch: readonly PendingRequest[]): void {
  resetBufferOnReconnect(server)
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
    server.write(encodeRequests(requests, seqs))
    pipeline = pipelineOf(server)
    pipeline.add(batch)
  } catch (cause) {
    failAll(batch, noReplyError(cause, server)) // an invalid port, for example
  }
}

const prepared = new WeakSet<MemcachedServer>()

/** After a lost connection memjs 1.3.2 would read on behind half a reply. */
function resetBufferOnReconnect(server: MemcachedServer): void {
  if (prepared.has(server)) return
  prepared.add(server)
  server.on('authenticated', () => {
    server.responseBuffer = Buffer.alloc(0)
  })
}

const pipelines = new WeakMap<Socket, Pipeline>()

function pipelineOf(server: MemcachedServer): Pipeline {
  const socket = server._socket as Socket
  const known = pipelines.get(socket)
  if (known !== undefined) return known
  isolate(server, socket)
  const pipeline = new Pipeline(server, socket)
  pipelines.set(socket, pipeline)
  return pipeline
}

/**
 * Corrects how memjs 1.3.2 handles the end of a connection. It takes the end of one that it has given up
 * for the end of its present one, which it then leaves open for good or whose requests it fails; and when a
 * server closes a connection in good order, it never calls back.
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

  /**
   * memjs only ends its own half of a connection that it gives up, and a server that hangs never ends the
   * other.
   */
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
  const message = cause instanceof Error ? cause.message : String(cause)
  return new StoreError('memcached', `${address}${message}`, { cause })
}
