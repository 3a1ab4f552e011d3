import { startUpstash, type UpstashServer } from '../../support/servers/upstash.js'
import { type UsedRedis, useRedis } from '../redis/use-redis.js'

/** The REST interface of Upstash in front of a Redis server. */
export interface UsedUpstash {
  readonly redis: Readonly<UsedRedis>
  readonly rest: UpstashServer
}

/** Starts both for the tests of a file. Before each test, the database is empty and nothing fails. */
export function useUpstash(): UsedUpstash {
  const used = {} as { redis: Readonly<UsedRedis>; rest: UpstashServer }
  used.redis = useRedis({
    async start(server) {
      used.rest = await startUpstash(server.url)
    },
    stop: async () => used.rest?.stop(),
  })
  beforeEach(async () => {
    await used.redis.client.flushdb()
    used.rest.requests.length = 0
    used.rest.fault = () => undefined
    used.rest.delayMs = 0
  })
  return used
}
