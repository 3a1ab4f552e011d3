import { StoreError } from '../store-error.js'
import type { RedisClient } from './client.js'

/** While a client makes its first connection, commands may wait for that. */
const STARTING = ['wait', 'connecting', 'connect']

/**
 * Gives a function that throws a `StoreError` while a client is not connected, so that a request does not wait in the client's
 * queue for a connection that may come back long after the request is gone.
 */
export function connectionCheck(client: { readonly status: string }): () => void {
  let isStarting = true
  return () => {
    const { status } = client
    isStarting &&= STARTING.includes(status)
    if (status === 'ready' || isStarting) return
    throw new StoreError('redis', `the client is not connected (${status})`)
  }
}

/** Gives the reply that it is given, or rejects when the connection is lost before that. */
export type UntilLost = <Reply>(reply: Promise<Reply>) => Promise<Reply>

const watched = new WeakMap<RedisClient, UntilLost>()

/**
 * Ends what was on its way when the connection is lost. A `Redis` of ioredis 5 and 6 that reconnects leaves such commands
 * pending for good, unless it sends them again. Stores that share a client share the one listener to it.
 */
export function untilLost(client: RedisClient): UntilLost {
  const known = watched.get(client) ?? watch(client)
  watched.set(client, known)
  return known
}

function watch(client: RedisClient): UntilLost {
  const pending = new Set<(reason: StoreError) => void>()
  let wasReady = client.status === 'ready'
  client.on('ready', () => {
    wasReady = true
  })
  client.on('close', () => {
    if (!wasReady) return // what waits for the first connection is not on its way
    for (const reject of pending)
      reject(new StoreError('redis', 'the connection was lost before the reply came'))
    pending.clear()
  })
  return (reply) =>
    new Promise((resolve, reject) => {
      pending.add(reject)
      reply.then(
        (value) => {
          pending.delete(reject)
          resolve(value)
        },
        (reason: unknown) => {
          pending.delete(reject)
          reject(reason)
        },
      )
    })
}
