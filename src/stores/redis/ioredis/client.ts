import { warnOnce } from '../../../util/warn-once.js'
import type { Unchecked } from '../../shared/validate.js'

/**
 * What the store needs of a `Redis` of ioredis 5 or 6 (https://github.com/redis/ioredis) or of iovalkey. It
 * is connected to one server, or to the master of a Sentinel group.
 */
export interface RedisClient {
  /** `'ready'` when it accepts commands. `'wait'` before the first command of a lazy client. */
  readonly status: string
  readonly options: {
    readonly keyPrefix?: string | undefined
    readonly autoResendUnfulfilledCommands?: boolean | undefined
    readonly enableAutoPipelining?: boolean | undefined
  }
  /** Sends any command. Strings in the reply are buffers. */
  callBuffer(command: string, ...args: string[]): Promise<unknown>
  pipeline(): RedisPipeline
  on(event: 'ready' | 'close' | symbol, listener: (error?: unknown) => void): unknown
}

/** What the store needs of a `Cluster` of ioredis 5 or 6 or of iovalkey. */
export interface RedisClusterClient {
  readonly isCluster: boolean
  readonly status: string
  readonly options: {
    readonly keyPrefix?: string | undefined
    readonly retryDelayOnFailover?: number | undefined
    /** An option that ioredis has since 6.0. */
    readonly clusterNodeRetryStrategy?: unknown
    readonly enableAutoPipelining?: boolean | undefined
  }
  /** The nodes of each slot as `host:port`, the master first. Empty until the cluster is known. */
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

/** Returns whether a value has what the store needs of a client of ioredis. */
export function isIoredis(value: unknown): value is RedisClient | RedisClusterClient {
  const { status, options, callBuffer, pipeline, on }: Unchecked<RedisClient> = value ?? {}
  const hasMethods = [callBuffer, pipeline, on].every((method) => typeof method === 'function')
  return hasMethods && typeof status === 'string' && typeof options === 'object' && options !== null
}

export function isIoredisCluster(client: RedisClient | RedisClusterClient): client is RedisClusterClient {
  return 'isCluster' in client && client.isCluster
}

/** Warns of a client that sends commands again when a connection is lost, as ioredis does by default. */
export function warnOfResends(client: RedisClient | RedisClusterClient): void {
  let safe = 'new Redis(url, { autoResendUnfulfilledCommands: false })'
  if (isIoredisCluster(client)) {
    const { retryDelayOnFailover, clusterNodeRetryStrategy } = client.options
    if (retryDelayOnFailover === 0 && typeof clusterNodeRetryStrategy !== 'function') return
    safe = 'new Redis.Cluster(nodes, { retryDelayOnFailover: 0 }), without clusterNodeRetryStrategy'
  } else if (client.options.autoResendUnfulfilledCommands === false) return
  warnOnce(
    'HEADGATE_REDIS_RESENDS',
    'headgate: the ioredis client resends commands after a lost connection, which can count a request twice. ' +
      `Create it with ${safe}.`,
  )
}
