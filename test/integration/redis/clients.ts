import type { Store } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis, type RedisOptions } from 'ioredis'
import { Redis as Redis5, type RedisOptions as RedisOptions5 } from 'ioredis5'
import type { RedisServer } from '../../support/servers/redis.js'

/** What a test says about a client; both versions of ioredis know these. */
export type ClientOptions = Pick<
  RedisOptions,
  | 'enableOfflineQueue'
  | 'enableReadyCheck'
  | 'keyPrefix'
  | 'lazyConnect'
  | 'maxLoadingRetryTime'
  | 'maxRetriesPerRequest'
> &
  Pick<RedisOptions, 'protocol' | 'retryStrategy'>
export type Client = Redis | Redis5

type Maker = (server: RedisServer, options: ClientOptions) => Client

/** Makes clients as the docs advise, of each version of ioredis that is supported. */
export const VERSIONS: readonly (readonly [string, Maker])[] = [
  ['ioredis 6', ({ host, port }, options) => new Redis({ host, port, ...QUIET, ...options })],
  [
    'ioredis 5',
    ({ host, port }, options) => new Redis5({ host, port, ...QUIET, ...(options as RedisOptions5) }),
  ],
]

/** As the docs advise; and the tests do not wait long for anything. */
const QUIET = { autoResendUnfulfilledCommands: false, disconnectTimeout: 100, retryStrategy: () => 50 }

/** A client, and a store over it. */
export interface Connection {
  readonly client: Client
  readonly store: Store
}

/** Opens connections for one test, and ends them all. */
export function connections(server: () => RedisServer, make: Maker) {
  const opened: Client[] = []

  /** Does not wait until it is connected. */
  function open(options: ClientOptions = {}): Connection {
    const client = make(server(), options)
    client.on('error', () => undefined) // while the server is down, connecting fails
    opened.push(client)
    return { client, store: redisStore(client) }
  }

  return {
    open,
    async connected(options?: ClientOptions): Promise<Connection> {
      const connection = open(options)
      await connection.client.ping()
      return connection
    },
    endAll() {
      for (const client of opened.splice(0)) if (client.status !== 'end') client.disconnect()
    },
  }
}
