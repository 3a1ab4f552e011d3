import { claimDatabase } from './redis-given.js'
import { type RedisServer, startRedisNode, withCli } from './redis-node.js'
import { givenServer } from './server.js'

export type { RedisServer } from './redis-node.js'

export interface RedisOptions {
  /** More options of redis-server, such as `['--maxmemory', '1mb']`. */
  readonly args?: readonly string[]
  /** Start one even where `REDIS_URL` is set: for tests that kill it, restart it or flush all of it. */
  readonly own?: boolean
}

/**
 * Starts a Redis server that keeps nothing on disk. Where the environment variable `REDIS_URL` names a
 * server, it is used instead, with a database of its own, unless the test needs options or a server of its
 * own; `url` names the database.
 */
export async function startRedis({
  args = [],
  own = args.length > 0,
}: RedisOptions = {}): Promise<RedisServer> {
  const given = process.env.REDIS_URL
  return given && !own ? useGiven(given) : startRedisNode('redis', () => args)
}

async function useGiven(serverUrl: string): Promise<RedisServer> {
  const giver = { variable: 'REDIS_URL', starter: 'startRedis', defaultPort: 6379 }
  return withCli(givenServer(await claimDatabase(serverUrl), giver))
}
