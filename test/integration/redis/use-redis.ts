import type { Redis } from 'ioredis'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { connect } from './connect.js'

/** A Redis server and a client of it. */
export interface UsedRedis {
  server: RedisServer
  client: Redis
}

/** What a file uses on its Redis server. */
export interface User {
  start(server: RedisServer): Promise<unknown>
  /** Runs before the server stops: a client that disconnects later keeps its process for two seconds. */
  stop(): Promise<unknown>
}

/**
 * Starts a Redis server for the tests of a file, and then its user. Stops them in reverse order after the
 * tests. Both parts are set in each test.
 */
export function useRedis(user?: User): Readonly<UsedRedis> {
  const redis = {} as UsedRedis

  beforeAll(async () => {
    redis.server = await startRedis()
    redis.client = await connect(redis.server.url)
    await user?.start(redis.server)
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    await user?.stop()
    redis.client?.disconnect()
    await redis.server?.stop()
  })

  return redis
}
