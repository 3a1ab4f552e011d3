import { hasMethods, isObject } from '../../../util/values.js'
import { warnOnce } from '../../../util/warn-once.js'

/** The options to send each command with. They take the place of the client's options. */
export interface NodeRedisCommandOptions {
  /** Which JavaScript type a type of the protocol becomes, by the code of its first byte. */
  readonly typeMapping: { readonly 36: never }
  /** Removes a command that has not been written yet. */
  readonly abortSignal?: AbortSignal
  readonly timeout: number
  readonly asap: boolean
}

/** What the store needs of an event emitter. */
interface Emitter {
  on(event: string | symbol, listener: (error?: unknown) => void): unknown
  listenerCount(event: string): number
}

/**
 * What the store needs of the client that `createClient` of redis 5 or 6 returns
 * (https://github.com/redis/node-redis).
 */
export interface NodeRedisClient extends Emitter {
  /** Whether `connect()` was called, and `close()` was not called since. */
  readonly isOpen: boolean
  readonly isReady: boolean
  /** The prefix of its keys, in redis 6. */
  readonly _keyPrefix?: string | Uint8Array | undefined
  sendCommand(args: string[], options: NodeRedisCommandOptions): Promise<unknown>
}

/** What the store needs of the client that `createSentinel` of redis 5 or 6 returns. */
export interface NodeRedisSentinelClient extends Emitter {
  readonly isOpen: boolean
  readonly _keyPrefix?: string | Uint8Array | undefined
  /** Returns the address of the master, or `undefined` while it is not connected. */
  getMasterNode(): object | undefined
  /**
   * Runs a function on the client of the master once that is connected, as all commands of a Sentinel client
   * do. Runs it again if it rejects because the connection was lost.
   */
  _execute<T>(isReadonly: boolean, run: (master: NodeRedisClient) => Promise<T>): Promise<T>
}

/**
 * A node of a Cluster as `createCluster` of redis 5 or 6 knows it.
 * @inline
 */
export interface NodeRedisClusterNode {
  /** Where it listens, as `host:port`. */
  readonly address: string
  readonly client?: NodeRedisClient | undefined
}

/** What the store needs of the client that `createCluster` of redis 5 or 6 returns. */
export interface NodeRedisClusterClient extends Emitter {
  readonly isOpen: boolean
  readonly _keyPrefix?: string | Uint8Array | undefined
  /** All masters. Empty until the client has found them. */
  readonly masters: readonly object[]
  /** The nodes of each slot. With `minimizeConnections`, a node has no client at first. */
  readonly slots: readonly { readonly master: NodeRedisClusterNode }[]
  /**
   * Creates a node's client if there is none, and returns a promise of it. If it is connected, redis 5.10 and
   * earlier return the client itself.
   */
  nodeClient(node: never): unknown
  /**
   * Sends a command to the master of a key's slot. If the reply is MOVED or ASK, sends it to the node in the
   * reply.
   */
  sendCommand(
    firstKey: string,
    isReadonly: boolean,
    args: string[],
    options: NodeRedisCommandOptions,
  ): Promise<unknown>
}

/**
 * Returns whether a value has what the store needs of a client of node-redis for one server. Sentinel and
 * Cluster clients have that too.
 */
export function isNodeRedis(value: unknown): value is NodeRedisClient {
  if (!isClient(value, 'sendCommand', 'withTypeMapping')) return false
  return 'isReady' in value && !['getMasterNode', 'masters', 'slots'].some((name) => name in value)
}

export function isNodeRedisSentinel(value: unknown): value is NodeRedisSentinelClient {
  return isClient(value, 'getMasterNode', '_execute')
}

export function isNodeRedisCluster(value: unknown): value is NodeRedisClusterClient {
  if (!isClient(value, 'nodeClient', 'sendCommand', 'withTypeMapping')) return false
  return 'slots' in value && Array.isArray(value.slots) && 'masters' in value && Array.isArray(value.masters)
}

function isClient(value: unknown, ...methods: readonly string[]): value is object {
  if (!isObject(value)) return false
  const { isOpen }: { readonly isOpen?: unknown } = value
  return typeof isOpen === 'boolean' && hasMethods(value, 'on', 'listenerCount', ...methods)
}

/**
 * Warns of a client without a listener for errors, because Node.js then ends the process when a connection
 * is lost. headgate does not listen itself, because that would hide the client's errors from the user.
 */
export function warnOfMissingListener(client: Emitter): void {
  if (client.listenerCount('error') > 0) return
  warnOnce(
    'HEADGATE_REDIS_NO_ERROR_LISTENER',
    "headgate: the node-redis client has no 'error' listener, so a lost connection ends the process. " +
      "Write client.on('error', (error) => console.error(error)).",
  )
}
