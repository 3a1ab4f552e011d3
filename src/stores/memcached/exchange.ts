import type { Socket } from 'node:net'
import { StoreError } from '../store-error.js'
import { type MemcachedClient, type MemcachedReply, type MemcachedServer, nameOf } from './client.js'
import { connectionFor, connectionOf, letGo, socketOf } from './connections.js'
import { type Ask, encode } from './protocol.js'

/**
 * How long a reply is waited for: when a server closes a connection in good order, memjs 1.3.2 never calls back. Its own time-out is
 * half a second by default, so that this one is for connections that are lost or out of step.
 */
const DEADLINE_MS = 1000

/** A reply, also one that says no; or why there is none. */
export type Answer = MemcachedReply | StoreError

/** A request for the server where `home` lives, and who waits for the answer. */
export interface Waiting {
  readonly home: string
  readonly ask: Ask
  readonly done: (answer: Answer) => void
}

/** Writes requests for one server, and hands out the answers: to each its reply, or to all that have none yet why not. */
export function exchange(
  client: MemcachedClient,
  server: MemcachedServer,
  asks: readonly Waiting[],
  onEnd: (failure?: StoreError) => void,
): void {
  let answered = 0
  const connection = connectionFor(server)
  let socket: Socket | undefined
  const timer = setTimeout(() => setImmediate(giveUp), DEADLINE_MS) // what has come while the process was busy is read first

  function end(failure?: StoreError): void {
    clearTimeout(timer)
    onEnd(failure)
  }

  function fail(cause: unknown): void {
    if (answered === asks.length) return
    const unanswered = asks.slice(answered)
    answered = asks.length
    const failure = noReply(cause, server)
    letGo(server, socket)
    for (const { done } of unanswered) done(failure)
    end(failure)
  }

  function giveUp(): void {
    if (answered === asks.length) return
    const late = new Error(`no reply within ${DEADLINE_MS} ms`)
    if (connectionOf(server) === connection) server.error(late) // it hangs, or is out of step
    fail(late)
  }

  const seqs = asks.map(({ done }, place) => {
    client.incrSeq()
    const seq = client.seq >>> 0
    server.onResponse(seq, (reply) => {
      if (place !== answered) return // it came too late
      if (++answered === asks.length) end()
      done(reply)
    })
    return seq
  })
  // Replies come in order, and memjs forgets whom to tell of an error when the reply is there.
  server.onError(seqs.at(-1) as number, fail)
  const requests = asks.map(({ ask }) => ask)
  try {
    server.write(encode(requests, seqs))
    socket = socketOf(server)
  } catch (cause) {
    fail(cause) // such as a port that is none
  }
}

/** Why there is no reply. */
export function noReply(cause: unknown, server?: MemcachedServer): StoreError {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new StoreError('memcached', server ? `${nameOf(server)}: ${message}` : message, { cause })
}
