import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import {
  type HonoConfigType,
  MemoryStore,
  type RateLimitInfo,
  RedisStore,
  rateLimiter,
} from 'hono-rate-limiter'
import { type Contender, closeLater, type Limit, redisAt, type Send, serve, WIDE } from '../contender.js'

export const honoRateLimiter: Contender = {
  name: 'hono-rate-limiter',
  findsClients: false,
  denies: true,
  limiter: (limits) => serveHono(limits),
  memory() {
    const store = new MemoryStore()
    store.init({ windowMs: 3_600_000 } as HonoConfigType)
    closeLater(() => store.shutdown())
    return (client) => store.increment(client)
  },
  onRedis(url) {
    const redis = redisAt(url)
    const client = {
      scriptLoad: (script: string) => redis.script('LOAD', script) as Promise<string>,
      evalsha: (sha: string, keys: string[], args: unknown[]) =>
        redis.evalsha(sha, keys.length, ...keys, ...(args as string[])) as Promise<never>,
      decr: (key: string) => redis.decr(key),
      del: (key: string) => redis.del(key),
    }
    return serveHono([WIDE], { store: new RedisStore({ client }) })
  },
}

function serveHono(limits: readonly Limit[], options: Partial<HonoConfigType> = {}): Promise<Send> {
  const app = new Hono()
  for (const { limit, windowMs } of limits) {
    const limiter = rateLimiter({
      limit,
      windowMs,
      keyGenerator: (c) => c.req.header('x-forwarded-for') ?? '',
      handler: (c) => {
        const { resetTime } = c.get('rateLimit' as never) as RateLimitInfo
        return c.json({ retryAfterMs: Number(resetTime) - Date.now() }, 429) as never
      },
      ...options,
    })
    app.use(limiter)
  }
  app.onError((error, c) => c.text(error.message, 500))
  app.all('/', (c) => c.text('hello'))
  return serve(getRequestListener(app.fetch))
}
