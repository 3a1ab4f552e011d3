import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  type RateLimiterRes,
  RateLimiterUnion,
} from 'rate-limiter-flexible'
import { type Contender, redisAt, type Send } from '../contender.js'

export const rateLimiterFlexible: Contender = {
  name: 'rate-limiter-flexible',
  findsClients: false,
  denies: true,
  limiter(limits) {
    const all = limits.map(
      ({ name, limit, windowMs }) =>
        new RateLimiterMemory({ keyPrefix: name, points: limit, duration: windowMs / 1000 }),
    )
    const [first] = all
    return consumeFrom(all.length === 1 && first ? first : new RateLimiterUnion(...all))
  },
  memory() {
    const limiter = new RateLimiterMemory({ points: 10, duration: 3600 })
    return (client) => limiter.consume(client)
  },
  onRedis: (url) =>
    consumeFrom(new RateLimiterRedis({ storeClient: redisAt(url), points: 1000, duration: 60 })),
}

function consumeFrom(limiter: Pick<RateLimiterAbstract, 'consume'> | RateLimiterUnion): Send {
  return async (client) => {
    try {
      await limiter.consume(client)
      return { allowed: true }
    } catch (denial) {
      if (denial instanceof Error) throw denial
      return { allowed: false, retryAfterMs: (denial as RateLimiterRes).msBeforeNext }
    }
  }
}
