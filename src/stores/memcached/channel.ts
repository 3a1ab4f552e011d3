import type { Socket } from 'node:net'
import { weakMemo } from '../../util/memo.js'
import { type Deadline, Deadlines, TimeoutError } from '../../util/timeout.js'
import type { StoreError } from '../store-error.js'
import type { MemcachedServer } from './client.js'
import { connectionError } from './errors.js'
import { encodeRequests, type MemcachedRequest, type Reply, readReply, STATUS } from './protocol.js'

/** A connection that leaves a request unanswered for a second is dropped, unless memjs drops it earlier. */
const SILENCE_MS = 1000
const deadlines = new Deadlines(SILENCE_MS)

/** A request, and what to call with its reply, or with the error in its place. */
export interface PendingRequest {
  readonly request: MemcachedRequest
  readonly settle: (reply: Reply | StoreError) => void
  /** The sequence number that the reply will carry. */
  seq: number
}

/** Requests that were written together, until all have their replies. */
interface Batch {
  readonly requests: readonly PendingRequest[]
  replies: number
  /** How many had come when the deadline was started. */
  repliesBefore: number
  readonly deadline: Deadline
}

const EMPTY = Buffer.alloc(0)

/**
 * Returns the channel to a server of a memjs client. It reads the replies to its own requests itself, because
 * memjs would take as long to read a reply as the store takes to decide. It passes all others to memjs.
 * Stores that share the client share the channel.
 */
export const channelTo = weakMemo((server: MemcachedServer) => {
  let batches: Batch[] = [] // the oldest first
  let partOfReply = server.responseBuffer
  let lastSocket: Socket | undefined
  let isWatched = false
  const passToMemjs = server.responseHandler.bind(server)
  server.responseHandler = read
  server.on('authenticated', dropPartOfReply)
  server.responseBuffer = EMPTY

  /** Drops a part of a reply: after a lost connection, memjs 1.3.2 would append the next reply to it. */
  function dropPartOfReply(): void {
    partOfReply = EMPTY
    server.responseBuffer = EMPTY
  }

  /** Reads replies. A server replies in the order of its requests. */
  function read(received: Buffer): void {
    const bytes = partOfReply.length === 0 ? received : Buffer.concat([partOfReply, received])
    partOfReply = EMPTY
    let at = 0
    for (let reply = readReply(bytes, at); reply !== undefined; reply = readReply(bytes, at)) {
      at = reply.end
      const batch = batches[0]
      const pending = batch?.requests[batch.replies]
      if (batch === undefined || pending?.seq !== reply.seq || reply.status === STATUS.authRequired) {
        passToMemjs(bytes.subarray(reply.at, at))
        continue
      }
      if (batch.replies++ === 0) server.requestTimeouts = server.requestTimeouts.slice(1) // as memjs does
      if (batch.replies === batch.requests.length) {
        deadlines.stop(batch.deadline)
        batches.shift()
      }
      try {
        pending.settle(reply)
      } catch (cause) {
        server.error(cause as Error) // the reply is malformed, and so may be those after it
        return
      }
    }
    if (at < bytes.length && server._socket !== undefined) partOfReply = bytes.subarray(at)
  }

  /** Fails all requests without a reply once the connection has ended. */
  function fail(cause: unknown): void {
    isWatched = false // memjs forgets its callbacks
    lastSocket?.destroy() // memjs may only end its own half; a server that hangs never ends the other
    dropPartOfReply()
    const failed = batches
    batches = []
    for (const { deadline, requests, replies } of failed) {
      deadlines.stop(deadline)
      failAll(requests.slice(replies), cause, server)
    }
  }

  /** Drops the connection if it has brought no reply to a batch for a second. */
  function dropIfSilent(batch: Batch): void {
    if (batch.replies === batch.repliesBefore) server.error(new TimeoutError(SILENCE_MS))
    else deadlines.watch(batch.deadline)
    batch.repliesBefore = batch.replies
  }

  /** Writes requests. They fail when the connection ends, or when the server is silent for a second. */
  function write(requests: readonly PendingRequest[]): void {
    try {
      server.write(encodeRequests(requests)) // which opens a connection where there is none
      if (server._socket === undefined) throw new Error('there is no connection')
    } catch (cause) {
      failAll(requests, cause, server) // an invalid port, for example
      return
    }
    const deadline = deadlines.start(() => dropIfSilent(batch))
    const batch: Batch = { requests, replies: 0, repliesBefore: 0, deadline }
    batches.push(batch)
    if (!isWatched || server._socket !== lastSocket) watchEnd(server._socket, requests[0]?.seq ?? 0)
  }

  /** Watches for the end of the connection, by a callback that memjs keeps under a sequence number. */
  function watchEnd(socket: Socket, seq: number): void {
    if (socket !== lastSocket) patchSocket(server, socket)
    lastSocket = socket
    if (!isWatched) server.onError(seq, fail)
    isWatched = true
  }

  return { write }
})

/** Fails requests because of their connection. */
export function failAll(requests: readonly PendingRequest[], cause: unknown, server?: MemcachedServer): void {
  const error = connectionError(cause, server && addressOf(server))
  for (const { settle } of requests) settle(error)
}

export function addressOf({ host, port }: MemcachedServer): string {
  return `${host}:${port}`
}

/** The connections that are patched. */
const patched = new WeakSet<Socket>()

/**
 * Corrects how memjs 1.3.2 handles the end of a connection. It mistakes the end of a dropped connection for
 * that of the present one. It then never closes the present one, or fails its requests. And when a server
 * closes a connection in good order, memjs never calls back.
 */
function patchSocket(server: MemcachedServer, socket: Socket): void {
  if (patched.has(socket)) return
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
