import { errorMonitor } from '../../../platform.js'
import { weakMemo } from '../../../util/memo.js'
import type { StoreError } from '../../store-error.js'
import { disconnectedError, lossError } from '../errors.js'
import { keySlot } from '../key-slot.js'
import type { Command, Transport } from '../transport.js'
import type { RedisClient, RedisClusterClient, RedisPipeline } from './client.js'

/** Creates the transport to one server, or to the master of a Sentinel group. */
export function ioredisTransport(client: RedisClient) {
  const connection = connectionOf(client)
  const { rejectOnLoss } = connection
  const checkConnection = connectionCheck(client, connection)
  const prefix = client.options.keyPrefix ?? ''
  return {
    batching: undefined,
    serverOf: undefined,
    slotOf: (key: string) => keySlot(prefix + key),
    scriptsOn: () => connection.scripts,
    send(commands: readonly Command[]): Promise<unknown>[] {
      checkConnection()
      const [only] = commands
      const isAlone = commands.length === 1 && !client.options.enableAutoPipelining
      if (only !== undefined && isAlone) return [rejectOnLoss(client.callBuffer(...only.words))]
      return sendTogether(client, commands).map(rejectOnLoss)
    },
  } satisfies Transport
}

/**
 * Sends commands in one write. Written one by one, those of many slots take several times as long. With
 * `enableAutoPipelining`, ioredis 5 and 6 lose the name of a command sent by `callBuffer`, so even a single
 * one goes in a pipeline.
 */
export function sendTogether(
  client: RedisClient | RedisClusterClient,
  commands: readonly Command[],
): Promise<unknown>[] {
  const pipeline = client.pipeline()
  for (const { words } of commands) pipeline.callBuffer(...words)
  const replies = pipeline.exec()
  return commands.map((_, i) => replyAt(replies, i))
}

async function replyAt(replies: ReturnType<RedisPipeline['exec']>, i: number): Promise<unknown> {
  const [error, reply] = (await replies)?.[i] ?? []
  if (error) throw error
  return reply
}

const STARTING = ['connecting', 'connect']

/**
 * Returns a function that throws a `StoreError` while a client is disconnected: a command must not wait in
 * the client's queue until long after its request is gone. Commands do wait for the first attempt to
 * connect.
 */
export function connectionCheck(
  client: { readonly status: string },
  connection: { readonly lastError?: unknown } = {},
): () => void {
  let isStarting = true
  return () => {
    const { status } = client
    const error = connection.lastError
    isStarting &&= status === 'wait' || (STARTING.includes(status) && error === undefined)
    if (status === 'ready' || isStarting) return
    throw disconnectedError(status, error, client)
  }
}

interface Connection {
  /** The client's last error, as when it cannot connect. */
  lastError: unknown
  /** The digests of the scripts on the current connection: a new set after each loss. */
  scripts: Set<string>
  /** Rejects a promise of a reply when the connection is lost first. */
  rejectOnLoss(reply: Promise<unknown>): Promise<unknown>
}

/**
 * Returns the connection of a client. A `Redis` of ioredis 5 and 6 that reconnects leaves commands pending
 * forever, unless it sends them again. Stores that share a client share its listeners. One for
 * `errorMonitor` does not count as a listener for errors, so ioredis still prints those without one.
 */
const connectionOf = weakMemo((client: RedisClient): Connection => {
  const pending = new Set<(reason: StoreError) => void>()
  let wasReady = client.status === 'ready'
  const connection: Connection = {
    lastError: undefined,
    scripts: new Set(),
    rejectOnLoss: (reply) =>
      new Promise((resolve, reject) => {
        pending.add(reject)
        reply.then(
          (value) => {
            pending.delete(reject)
            resolve(value)
          },
          (error) => {
            pending.delete(reject)
            reject(error)
          },
        )
      }),
  }
  client.on(errorMonitor(), (error) => {
    connection.lastError = error
  })
  client.on('ready', () => {
    wasReady = true
    connection.lastError = undefined
  })
  client.on('close', () => {
    connection.scripts = new Set()
    if (!wasReady) return // commands are still waiting for the first connection
    const error = lossError(client)
    for (const reject of pending) reject(error)
    pending.clear()
  })
  return connection
})
