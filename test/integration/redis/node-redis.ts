import type { Store } from 'headgate'
import { redisStore } from 'headgate/redis'
import { createClient } from 'redis'
import { createClient as createClient5 } from 'redis5'
import type { RedisServer } from '../../support/servers/redis.js'

/** What a test says about a client; redis 5 and 6 know these. */
export interface NodeRedisOptions {
  readonly RESP?: 2 | 3
  readonly disableOfflineQueue?: boolean
  readonly commandsQueueMaxLength?: number
  readonly commandOptions?: { readonly asap?: boolean; readonly typeMapping?: object }
  readonly keyPrefix?: string
  readonly password?: string
  readonly socket?: {
    readonly reconnectStrategy?: false | (() => number | false)
    readonly tls?: true
    readonly ca?: Buffer | undefined
    readonly cert?: Buffer | undefined
    readonly key?: Buffer | undefined
  }
}

/** The client of redis 6 with its default types, which also stands for one of redis 5. */
export type NodeRedis = ReturnType<typeof createClient>
type Maker = (url: string, options: NodeRedisOptions) => NodeRedis

/** Makes clients of each version of node-redis that is supported. */
export const NODE_REDIS: readonly (readonly [string, Maker])[] = [
  ['redis 6', (url, options) => createClient({ url, ...quiet(options) } as object) as NodeRedis],
  ['redis 5', (url, options) => createClient5({ url, ...quiet(options) } as object) as object as NodeRedis],
]

/** The tests do not wait long for anything. */
const quiet = (options: NodeRedisOptions): NodeRedisOptions => ({
  ...options,
  socket: { reconnectStrategy: () => 50, ...options.socket },
})

/** A client, and a store over it. */
export interface NodeRedisConnection {
  readonly client: NodeRedis
  readonly store: Store
}

/** Opens connections for one test, and ends them all. */
export function nodeRedisConnections(server: () => RedisServer, make: Maker) {
  const opened: NodeRedis[] = []

  /** Does not connect. */
  function create(options: NodeRedisOptions = {}): NodeRedisConnection {
    const client = make(server().url, options)
    client.on('error', () => undefined) // while the server is down, connecting fails
    opened.push(client)
    return { client, store: redisStore(client) }
  }

  /** Does not wait until it is connected. */
  function open(options?: NodeRedisOptions): NodeRedisConnection {
    const connection = create(options)
    connection.client.connect().catch(() => undefined) // a test ends it before it has connected
    return connection
  }

  return {
    create,
    open,
    async connected(options?: NodeRedisOptions): Promise<NodeRedisConnection> {
      const connection = create(options)
      await connection.client.connect()
      return connection
    },
    endAll() {
      for (const client of opened.splice(0)) if (client.isOpen) client.destroy()
    },
  }
}
