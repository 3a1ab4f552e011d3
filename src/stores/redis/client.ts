/**
 * What the store needs of an ioredis client, version 5 or 6 (https://github.com/redis/ioredis): a `Redis` that is
 * connected to one server, or to the master of a Sentinel group.
 */
export interface RedisClient {
  /** `'ready'` when commands are answered; `'wait'` before the first command of a lazy client. */
  readonly status: string
  readonly options: {
    readonly autoResendUnfulfilledCommands?: boolean | undefined
    readonly enableAutoPipelining?: boolean | undefined
  }
  /** Sends any command, and gives strings of the reply as buffers. */
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
  /** By slot, the nodes that serve it, as `host:port`, the master first. Empty until the cluster is known. */
  readonly slots: readonly (readonly string[])[]
  callBuffer(command: string, ...args: string[]): Promise<unknown>
  pipeline(): RedisPipeline
}

/** Commands that go to one node together. */
export interface RedisPipeline {
  callBuffer(command: string, ...args: string[]): unknown
  /** One `[error, reply]` for each command, in order. */
  exec(): Promise<readonly (readonly [Error | null, unknown])[] | null>
}

/** Whether a value is a client that the store can work with. */
export function isRedisClient(value: unknown): value is RedisClient | RedisClusterClient {
  if (typeof value !== 'object' || value === null) return false
  const { status, options, callBuffer, pipeline, on } = value as Partial<RedisClient>
  const hasMethods = [callBuffer, pipeline, on].every((method) => typeof method === 'function')
  return hasMethods && typeof status === 'string' && typeof options === 'object' && options !== null
}

export function isClusterClient(client: RedisClient | RedisClusterClient): client is RedisClusterClient {
  return 'isCluster' in client && client.isCluster
}
