import { rateLimit, type Store } from 'headgate/http'
import { redisStore } from 'headgate/redis'
import { Cluster, Redis } from 'iovalkey'

const stores: Store[] = [
  redisStore(new Redis('redis://localhost', { autoResendUnfulfilledCommands: false })),
  redisStore(new Cluster([{ host: 'localhost', port: 6379 }], { retryDelayOnFailover: 0 })),
]
export const limiters = stores.map((store) => rateLimit({ limit: 2, window: '1h', store }))
