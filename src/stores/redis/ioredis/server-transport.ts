import { weakMemo } from '../../../util/memo.js'
import { StoreError } from '../../store-error.js'
import { keySlot } from '../key-slot.js'
import type { Command, Transport } from '../transport.js'
import type { RedisClient, RedisClusterClient } from './client.js'

/** Creates the transport to one server, or to the master of a Sentinel group. */
export function ioredisTransport(client: RedisClient): Transport {
  const checkConnection = connectionCheck(client)
  const rejectOnLoss = lossGuard(client)
  const prefix = client.options.keyPrefix ?? ''
  return {
    slotOf: (key) => keySlot(prefix + key),
    send(commands) {
      checkConnection()
      return commands.map((command) => rejectOnLoss(sendOne(client, command)))
    },
  }
}

/**
 * Sends one command. With `enableAutoPipelining`, ioredis 5 and 6 lose the name of a command sent by
 * `callBuffer`, so it goes in its own pipeline.
 */
export function sendOne(client: RedisClient | RedisClusterClient, { words }: Command): Promise<unknown> {
  return client.options.enableAutoPipelining ? pipelineOne(client, words) : client.callBuffer(...words)
}

async function pipelineOne(
  client: RedisClient | RedisClusterClient,
  words: Command['words'],
): Promise<unknown> {
  const pipeline = client.pipeline()
  pipeline.callBuffer(...words)
  const [[error, reply] = []] = (await pipeline.exec()) ?? []
  if (error) throw error
  return reply
}

const STARTING = ['wait', 'connecting', 'connect']

/**
 * Returns a function that throws a `StoreError` while a client is disconnected: a command must not wait in
 * the client's queue until long after its request is gone. Commands do wait for the first connection.
 */
export function connectionCheck(client: { readonly status: string }): () => void {
  let isStarting = true
  return () => {
    const { status } = client
    isStarting &&= STARTING.includes(status)
    if (status === 'ready' || isStarting) return
    throw new StoreError('redis', `the client is not connected (${status})`, { unsent: true })
  }
}

/**
 * Returns a function that rejects a promise of a reply when the client's connection is lost first. A `Redis`
 * of ioredis 5 and 6 that reconnects leaves commands pending forever, unless it sends them again. Stores
 * that share a client share its listeners.
 */
const lossGuard = weakMemo((client: RedisClient) => {
  const pending = new Set<(reason: StoreError) => void>()
  let wasReady = client.status === 'ready'
  client.on('ready', () => {
    wasReady = true
  })
  client.on('close', () => {
    if (!wasReady) return // commands are still waiting for the first connection
    const error = new StoreError('redis', 'the connection was lost before the reply arrived')
    for (const reject of pending) reject(error)
    pending.clear()
  })
  return (reply: Promise<unknown>): Promise<unknown> =>
    new Promise((resolve, reject) => {
      pending.add(reject)
      reply.finally(() => pending.delete(reject)).then(resolve, reject)
    })
})
