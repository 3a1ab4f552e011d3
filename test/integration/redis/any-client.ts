import type { Store } from 'headgate'
import type { RedisServer } from '../../support/servers/redis.js'
import { type Connection, connections, VERSIONS } from './clients.js'
import { NODE_REDIS, type NodeRedisConnection, nodeRedisConnections } from './node-redis.js'

/** What a test says about a client of any driver. */
export interface AnyOptions {
  readonly protocol?: 2 | 3
  readonly offlineQueue?: false
  /** Not with redis 5. */
  readonly keyPrefix?: string
  /** `false` gives up when the connection is lost. */
  readonly reconnectAfterMs?: number | false
}

/** A client of any driver, and a store over it. */
export interface AnyConnection {
  readonly store: Store
  isReady(): boolean
  hasEnded(): boolean
  connect(): Promise<unknown>
  send(...words: readonly [string, ...string[]]): Promise<unknown>
  subscribe(channel: string): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  /** Ends at once, and the charges in flight fail. */
  destroy(): void
  /** Ends after the commands in flight. */
  quit(): Promise<unknown>
}

/** Connections for one test. */
export interface AnyConnections {
  /** Does not wait until it is connected. */
  open(options?: AnyOptions): AnyConnection
  connected(options?: AnyOptions): Promise<AnyConnection>
  endAll(): void
}

export interface Driver {
  readonly name: string
  /** What the client's error says where commands must not wait. */
  readonly offline: string
  /** What its error says where it gave up, or was ended. */
  readonly ended: string
  /** What its error says where it only listens. */
  readonly listening: string
  connections(server: () => RedisServer): AnyConnections
}

const ofIoredis = ({ client, store }: Connection): AnyConnection => ({
  store,
  isReady: () => client.status === 'ready',
  hasEnded: () => client.status === 'end',
  connect: () => client.connect(),
  send: (...words) => client.call(...words),
  subscribe: (channel) => client.subscribe(channel),
  unsubscribe: (channel) => client.unsubscribe(channel),
  destroy: () => client.disconnect(),
  quit: () => client.quit(),
})

const ofNodeRedis = ({ client, store }: NodeRedisConnection): AnyConnection => ({
  store,
  isReady: () => client.isReady,
  hasEnded: () => !client.isOpen,
  connect: () => client.connect(),
  send: (...words) => client.sendCommand([...words]),
  subscribe: (channel) => client.subscribe(channel, () => undefined),
  unsubscribe: (channel) => client.unsubscribe(channel),
  destroy: () => client.destroy(),
  quit: () => client.close(),
})

const IOREDIS = VERSIONS.map(
  ([name, make]): Driver => ({
    name,
    offline: 'enableOfflineQueue',
    ended: 'not connected (end)',
    listening: 'subscriber mode',
    connections(server) {
      const { open, connected, endAll } = connections(server, make)
      const read = ({ protocol, keyPrefix, offlineQueue, reconnectAfterMs }: AnyOptions = {}) => ({
        ...(protocol && { protocol }),
        ...(keyPrefix && { keyPrefix }),
        ...(offlineQueue === false && { enableOfflineQueue: false }),
        ...(reconnectAfterMs !== undefined && { retryStrategy: () => reconnectAfterMs || null }),
      })
      return {
        open: (options) => ofIoredis(open(read(options))),
        connected: async (options) => ofIoredis(await connected(read(options))),
        endAll,
      }
    },
  }),
)

const NODE = NODE_REDIS.map(
  ([name, make]): Driver => ({
    name,
    offline: 'offline',
    ended: 'the client is not connected (closed). Call client.connect() first.',
    listening: "Can't execute",
    connections(server) {
      const { open, connected, endAll } = nodeRedisConnections(server, make)
      const read = ({ protocol, keyPrefix, offlineQueue, reconnectAfterMs }: AnyOptions = {}) => ({
        ...(protocol && { RESP: protocol }),
        ...(keyPrefix && { keyPrefix }),
        ...(offlineQueue === false && { disableOfflineQueue: true }),
        ...(reconnectAfterMs !== undefined && { socket: { reconnectStrategy: afterMs(reconnectAfterMs) } }),
      })
      return {
        open: (options) => ofNodeRedis(open(read(options))),
        connected: async (options) => ofNodeRedis(await connected(read(options))),
        endAll,
      }
    },
  }),
)

const afterMs = (ms: number | false): false | (() => number) => ms !== false && (() => ms)

/** Returns the drivers of some versions: of ioredis and of node-redis. */
export function driversOf(versions: readonly string[]): readonly Driver[] {
  return [...IOREDIS, ...NODE].filter(({ name }) => versions.includes(name))
}
