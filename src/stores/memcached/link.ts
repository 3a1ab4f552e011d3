import { StoreError } from '../../errors.js'
import { groupBy } from '../../group-by.js'
import { connectionOf } from './connections.js'
import {
  type MemcachedClient,
  type MemcachedReply,
  type MemcachedServer,
  nameOf,
} from './memcached-client.js'
import { type Ask, encode } from './wire.js'

/**
 * How long a reply is waited for: when a server closes a connection in good order, memjs 1.3.2 never calls back. Its own time-out is
 * half a second by default, so that this one is for connections that are lost or out of step.
 */
const DEADLINE_MS = 1000

/** A reply, also one that says no; or why there is none. */
export type Answer = MemcachedReply | StoreError

/** Requests that are on their way to a server at once, and no more are sent to it: some thousands. */
const MAX_ASKS = 2048

/**
 * Asks the server where `home` lives, so that all items of one key are together, whatever they are called. What is asked by the
 * code that runs now goes to each server in one write.
 */
export type Link = (home: string, ask: Ask, done: (answer: Answer) => void) => void

interface Waiting {
  readonly home: string
  readonly ask: Ask
  readonly done: (answer: Answer) => void
}

export function link(client: MemcachedClient): Link {
  let waiting: Waiting[] = []
  const queues = new Map<MemcachedServer | null | undefined, { open: number; asks: Waiting[] }>()

  function flush(): void {
    const all = waiting
    waiting = []
    for (const [server, own] of groupBy(all, ({ home }) => client.server(home))) {
      const queue = queues.get(server) ?? { open: 0, asks: [] }
      queues.set(server, queue)
      queue.asks = queue.asks.length > 0 ? queue.asks.concat(own) : own
      send(server)
    }
  }

  function send(server: MemcachedServer | null | undefined): void {
    const queue = queues.get(server)
    if (queue === undefined || queue.open >= MAX_ASKS || queue.asks.length === 0) return
    const asks = queue.asks.splice(0, MAX_ASKS)
    queue.open += asks.length
    exchange(client, server, asks, () => {
      queue.open -= asks.length
      send(server)
    })
  }

  return (home, ask, done) => {
    if (waiting.push({ home, ask, done }) === 1) process.nextTick(flush)
  }
}

/** Asks, and waits. Rejects with `StoreError` where there is no reply. */
export function askAlone(link: Link, home: string, ask: Ask): Promise<MemcachedReply> {
  return new Promise((resolve, reject) => {
    link(home, ask, (answer) => {
      if (answer instanceof StoreError) reject(answer)
      else resolve(answer)
    })
  })
}

/** Writes requests for one server, and hands out the answers: to each its reply, or to all that have none yet why not. */
function exchange(
  client: MemcachedClient,
  server: MemcachedServer | null | undefined,
  asks: readonly Waiting[],
  onEnd: () => void,
): void {
  let answered = 0
  const end = () => {
    clearTimeout(timer)
    onEnd()
  }
  const fail = (message: string, cause?: unknown) => {
    if (answered === asks.length) return
    const name = server ? `${nameOf(server)}: ` : ''
    const error = new StoreError('memcached', `${name}${message}`, { cause })
    const unanswered = asks.slice(answered)
    answered = asks.length
    end()
    for (const { done } of unanswered) done(error)
  }
  const failWith = (cause: unknown) => fail(cause instanceof Error ? cause.message : String(cause), cause)
  const connection = connectionOf(server)
  const giveUp = () => {
    if (answered === asks.length) return
    const late = new Error(`no reply within ${DEADLINE_MS} ms`)
    if (server && connectionOf(server) === connection) server.error(late) // it hangs, or is out of step
    failWith(late)
  }
  const timer = setTimeout(() => setImmediate(giveUp), DEADLINE_MS) // what has come while the process was busy is read first
  if (!server) {
    fail('no server can be had')
    return
  }
  const seqs = asks.map(({ done }, i) => {
    client.incrSeq()
    const seq = client.seq >>> 0
    server.onResponse(seq, (reply) => {
      if (i !== answered) return // it came too late
      if (++answered === asks.length) end()
      done(reply)
    })
    return seq
  })
  // Replies come in order, and memjs forgets whom to tell of an error when the reply is there.
  server.onError(seqs.at(-1) as number, failWith)
  const requests = asks.map(({ ask }) => ask)
  try {
    server.write(encode(requests, seqs))
  } catch (cause) {
    failWith(cause) // such as a port that is none
  }
}
