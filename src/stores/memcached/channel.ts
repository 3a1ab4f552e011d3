import type { Socket } from 'node:net'
import { afterCode, afterTurn } from '../../util/defer.js'
import { createDeadlines, type Deadline, TimeoutError } from '../../util/timeout.js'
import type { StoreError } from '../store-error.js'
import { addressOf, type MemcachedClient, type MemcachedServer } from './client.js'
import { connectionError } from './errors.js'
import { patchSocket } from './patch-socket.js'
import { encodeRequests, type MemcachedRequest, type Reply, readReply, STATUS } from './protocol.js'

/** A connection that leaves a request unanswered for a second is dropped, unless memjs drops it earlier. */
const SILENCE_MS = 1000
const deadlines = createDeadlines(SILENCE_MS)

/** Requests written in one turn of the event loop, so that a burst leaves time to read replies. */
const MAX_PER_TURN = 2048

/** Called once, later, with the reply, whatever its status, or with an error if there is none. */
export type OnReply = (reply: Reply | StoreError) => void

interface PendingRequest {
  readonly request: MemcachedRequest
  readonly settle: OnReply
  /** The sequence number that the reply will carry. */
  seq: number
}

/** Requests that were written together, until all have their replies. */
interface Batch {
  readonly requests: readonly PendingRequest[]
  replies: number
}

const EMPTY = Buffer.alloc(0)

/**
 * The channel to a server of a memjs client. It reads the replies to its own requests, because memjs would
 * take as long to read a reply as the store takes to decide. It passes all other replies to memjs. Stores
 * that share the client share the channel.
 */
export class Channel implements Deadline {
  dueAtMs = 0
  earlier: Deadline | undefined
  later: Deadline | undefined
  readonly #client: MemcachedClient
  readonly server: MemcachedServer
  readonly #passToMemjs: (received: Buffer) => void
  #queued: PendingRequest[] = []
  readonly #batches: Batch[] = [] // the oldest first
  /** Whether a reply has come since the deadline was started. */
  #hasReplied = false
  #partOfReply: Buffer
  #lastSocket: Socket | undefined
  /** Whether memjs will call back when the connection ends. */
  #isWatched = false

  constructor(client: MemcachedClient, server: MemcachedServer) {
    this.#client = client
    this.server = server
    this.#partOfReply = server.responseBuffer
    this.#passToMemjs = server.responseHandler.bind(server)
    server.responseHandler = this.#read
    server.on('authenticated', () => this.#dropPartOfReply())
    server.responseBuffer = EMPTY
  }

  /**
   * Sends a request, in one write with others of the same tick. The request fails if the connection ends, or
   * if the server is silent for a second.
   */
  send(request: MemcachedRequest, settle: OnReply): void {
    if (this.#queued.push({ request, settle, seq: 0 }) === 1) afterCode(this.#flush)
  }

  readonly #flush = (): void => {
    const queued = this.#queued
    const requests = queued.length > MAX_PER_TURN ? queued.splice(0, MAX_PER_TURN) : queued
    if (requests === queued) this.#queued = []
    else afterTurn(this.#flush)
    for (const pending of requests) {
      this.#client.incrSeq()
      pending.seq = this.#client.seq >>> 0
    }
    const server = this.server
    try {
      server.write(encodeRequests(requests)) // which opens a connection where there is none
      if (server._socket === undefined) throw new Error('there is no connection')
    } catch (cause) {
      this.#failAll(requests, cause) // an invalid port, for example
      return
    }
    if (this.#batches.push({ requests, replies: 0 }) === 1) {
      this.#hasReplied = false
      deadlines.start(this)
    }
    if (!this.#isWatched || server._socket !== this.#lastSocket)
      this.#watchEnd(server._socket, requests[0]?.seq ?? 0)
  }

  /** Reads replies. A server replies in the order of its requests. */
  readonly #read = (received: Buffer): void => {
    const server = this.server
    const bytes = this.#partOfReply.length === 0 ? received : Buffer.concat([this.#partOfReply, received])
    this.#partOfReply = EMPTY
    let at = 0
    while (at < bytes.length) {
      const reply = readReply(bytes, at)
      if (reply === undefined) break
      at = reply.end
      const [batch] = this.#batches
      const pending = batch?.requests[batch.replies]
      if (batch === undefined || pending?.seq !== reply.seq || reply.status === STATUS.authRequired) {
        this.#passToMemjs(bytes.subarray(reply.at, at))
        continue
      }
      this.#hasReplied = true
      if (batch.replies++ === 0) server.requestTimeouts = server.requestTimeouts.slice(1) // as memjs does
      if (batch.replies === batch.requests.length) {
        this.#batches.shift()
        if (this.#batches.length === 0) deadlines.stop(this)
      }
      try {
        pending.settle(reply)
      } catch (cause) {
        server.error(cause as Error) // the reply is malformed, and so may be those after it
        return
      }
    }
    if (at < bytes.length && server._socket !== undefined) this.#partOfReply = bytes.subarray(at)
  }

  /** Drops the connection if it has brought no reply for a second. */
  onExpired(): void {
    if (!this.#hasReplied) this.server.error(new TimeoutError(SILENCE_MS))
    else deadlines.start(this)
    this.#hasReplied = false
  }

  /** Watches for the end of the connection, by a callback that memjs keeps under a sequence number. */
  #watchEnd(socket: Socket, seq: number): void {
    if (socket !== this.#lastSocket) patchSocket(this.server, socket)
    this.#lastSocket = socket
    if (!this.#isWatched) this.server.onError(seq, (cause) => this.#fail(cause))
    this.#isWatched = true
  }

  /** Fails all requests without a reply once the connection has ended. */
  #fail(cause: unknown): void {
    this.#isWatched = false // memjs forgets its callbacks
    this.#lastSocket?.destroy() // memjs may only end its own half; a server that hangs never ends the other
    this.#dropPartOfReply()
    deadlines.stop(this)
    for (const { requests, replies } of this.#batches.splice(0)) this.#failAll(requests.slice(replies), cause)
  }

  #failAll(requests: readonly PendingRequest[], cause: unknown): void {
    const error = connectionError(cause, addressOf(this.server))
    for (const { settle } of requests) settle(error)
  }

  /** Drops a part of a reply: after a lost connection, memjs 1.3.2 would append the next reply to it. */
  #dropPartOfReply(): void {
    this.#partOfReply = EMPTY
    this.server.responseBuffer = EMPTY
  }
}
