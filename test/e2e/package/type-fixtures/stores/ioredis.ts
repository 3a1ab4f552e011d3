import { type LimiterOptions, rateLimit, type Store } from 'headgate/http'
import { redisStore } from 'headgate/redis'
import { Cluster, Redis } from 'ioredis'

const url = 'redis://localhost'
const nodes = [{ host: 'localhost', port: 6379 }]
const redis = new Redis(url, { autoResendUnfulfilledCommands: false })
const sentinel = new Redis({ sentinels: nodes, name: 'main' })
const cluster = new Cluster(nodes, { retryDelayOnFailover: 0 })

const store: Store = redisStore(redis)
export const options: LimiterOptions<unknown> = { limit: 2, window: '1h', store: redisStore(sentinel) }
export const limiters = [store, redisStore(cluster)].map((each) => rateLimit({ ...options, store: each }))

export const mistakes = [
  // @ts-expect-error: a pipeline is no client
  () => redisStore(redis.pipeline()),
  // @ts-expect-error: the client is required
  () => redisStore(),
  // @ts-expect-error: a URL is no client
  () => redisStore(url),
]
