import { weakMemo } from '../../util/memo.js'
import { StoreError } from '../store-error.js'

/**
 * What the store needs of a `Redis` of ioredis 5 or 6 (https://github.com/redis/ioredis), connected to one
 * server or to the master of a Sentinel group.
 */
export interface RedisClient {
  /** `'ready'` when it takes commands; `'wait'` before the first command of a lazy client. */
  readonly status: string
  readonly options: {
    readonly autoResendUnfulfilledCommands?: boolean | undefined
    readonly enableAutoPipelining?: boolean | undefined
  }
  /** Sends any command. Strings in the reply are buffers. */
  callBuffer(command: string, ...args: string[]): Promise<unknown>
  pipeline(): RedisPipeline
  on(event: 'ready' | 'close', listener: () => void): unknown
}

/** What the store needs of an ioredis `Cluster`, version 5 or 6. */
export interface RedisClusterClient {
  readonly isCluster: boolean
  readonly status: string
  readonly options: {
    readonly keyPrefix?: string | undefined
    readonly retryDelayOnFailover?: number | undefined
    /** Of ioredis 6.0. */
    readonly clusterNodeRetryStrategy?: unknown
    readonly enableAutoPipelining?: boolean | undefined
  }
  /** By slot, its nodes as `host:port`, the master first. Empty until the cluster is known. */
  readonly slots: readonly (readonly string[])[]
  callBuffer(command: string, ...args: string[]): Promise<unknown>
  pipeline(): RedisPipeline
}

/** Commands that go to one node in one write. */
export interface RedisPipeline {
  callBuffer(command: string, ...args: string[]): unknown
  /** One `[error, reply]` for each command, in order. */
  exec(): Promise<readonly (readonly [Error | null, unknown])[] | null>
}

/** Returns whether a value has what the store needs of a client. */
export function isRedisClient(value: unknown): value is RedisClient | RedisClusterClient {
  if (typeof value !== 'object' || value === null) return false
  const { status, options, callBuffer, pipeline, on } = value as Partial<RedisClient>
  const hasMethods = [callBuffer, pipeline, on].every((method) => typeof method === 'function')
  return hasMethods && typeof status === 'string' && typeof options === 'object' && options !== null
}

export function isClusterClient(client: RedisClient | RedisClusterClient): client is RedisClusterClient {
  return 'isCluster' in client && client.isCluster
}

/** The states of a client before its first connection is ready. */
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
    throw new StoreError('redis', `the client is not connected (${status})`)
  }
}

/**
 * Returns a function that rejects a promise of a reply when the client's connection is lost first. A `Redis`
 * of ioredis 5 and 6 that reconnects leaves commands pending forever, unless it sends them again. Stores
 * that share a client share its listeners.
 */
export const rejectOnLoss = weakMemo((client: RedisClient) => {
  const pending = new Set<(reason: StoreError) => void>()
  let wasReady = client.status === 'ready'
  client.on('ready', () => {
    wasReady = true
  })
  client.on('close', () => {
    if (!wasReady) return // commands are still waiting for the first connection
    const error = new StoreError('redis', 'the connection was lost before the reply came')
    for (const reject of pending) reject(error)
    pending.clear()
  })
  return (reply: Promise<unknown>): Promise<unknown> =>
    new Promise((resolve, reject) => {
      pending.add(reject)
      reply.then(resolve, reject).finally(() => pending.delete(reject))
    })
})
