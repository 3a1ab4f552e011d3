import { randomUUID } from 'node:crypto'
import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
import { type Contender, type Limit, redisAt, type Send, WIDE } from '../contender.js'
import { overHttp } from './over-http.js'

export const upstashRatelimit: Contender = {
  name: '@upstash/ratelimit',
  findsClients: false,
  denies: true,
  limiter: (limits, url) => limitBy(limits, url),
  onRedis: (url) => limitBy([WIDE], url),
}

async function limitBy(limits: readonly Limit[], url: string): Promise<Send> {
  const redis = new Redis({ url: await overHttp(redisAt(url)), token: 'none', responseEncoding: false })
  const all = limits.map(
    ({ name, limit, windowMs }) =>
      new Ratelimit({
        redis,
        prefix: `${name}:${randomUUID()}`,
        limiter: Ratelimit.slidingWindow(limit, `${windowMs} ms`),
      }),
  )
  return async (client) => {
    for (const limiter of all) {
      const { success, reset } = await limiter.limit(client)
      if (!success) return { allowed: false, retryAfterMs: reset - Date.now() }
    }
    return { allowed: true }
  }
}
