import type { Redis } from 'ioredis'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { connect } from './connect.js'

/** A Redis server and a client of it. */
export interface UsedRedis {
  server: RedisServer
  client: Redis
}

/**
 * Starts a Redis server for the tests of a file, and stops it after them. Both parts are set in each test.
 */
export function useRedis(): Readonly<UsedRedis> {
  const redis = {} as UsedRedis

  beforeAll(async () => {
    redis.server = await startRedis()
    redis.client = await connect(redis.server.url)
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    redis.client?.disconnect()
    await redis.server?.stop()
  })

  return redis
}
