import type { UsedRedis } from '../integration/redis/use-redis.js'
import { startUpstash, type UpstashServer } from '../support/servers/upstash.js'
import type { StartOptions } from './runtimes.js'

/** Serves the REST interface of Upstash in front of a file's Redis. Applications of `stores/upstash.ts` take `options`. */
export function useUpstash(redis: Readonly<UsedRedis>): { readonly options: StartOptions } {
  let server: UpstashServer
  beforeAll(async () => {
    server = await startUpstash(redis.server.url)
  })
  afterAll(() => server?.stop())
  return {
    get options() {
      const { url, token } = server
      return { env: { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } }
    },
  }
}
