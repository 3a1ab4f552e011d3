import { startUpstash, type UpstashServer } from '../../support/servers/upstash.js'
import { type UsedRedis, useRedis } from '../redis/use-redis.js'

/** The REST interface of Upstash in front of a Redis server. */
interface UsedUpstash {
  readonly redis: Readonly<UsedRedis>
  readonly rest: UpstashServer
}

/** Starts both for the tests of a file. Before each test, the database is empty and nothing fails. */
export function useUpstash(): UsedUpstash {
  const redis = useRedis()
  const used = { redis } as { redis: typeof redis; rest: UpstashServer }

  beforeAll(async () => {
    used.rest = await startUpstash(redis.server.url)
  })
  beforeEach(async () => {
    await redis.client.flushdb()
    used.rest.requests.length = 0
    used.rest.fault = () => undefined
    used.rest.delayMs = 0
  })
  afterAll(() => used.rest?.stop())
  return used
}
