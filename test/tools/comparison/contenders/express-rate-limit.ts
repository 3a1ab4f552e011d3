import type { RequestHandler } from 'express'
import { MemoryStore, type Options, type RateLimitInfo, rateLimit } from 'express-rate-limit'
import { RedisStore } from 'rate-limit-redis'
import { type Contender, closeLater, type Limit, redisAt, serveExpress, WIDE } from '../contender.js'

export const expressRateLimit: Contender = {
  name: 'express-rate-limit',
  findsClients: true,
  denies: true,
  limiter: (limits) => serveExpress(...limits.map((limit) => middleware(limit))),
  memory() {
    const store = new MemoryStore()
    store.init({ windowMs: 3_600_000 } as Options)
    closeLater(() => store.shutdown())
    return (client) => store.increment(client)
  },
  onRedis(url) {
    const client = redisAt(url)
    const sendCommand = (name: string, ...args: string[]) => client.call(name, ...args) as Promise<number>
    return serveExpress(middleware(WIDE, { store: new RedisStore({ sendCommand }) }))
  },
}

function middleware({ limit, windowMs }: Limit, options: Partial<Options> = {}): RequestHandler {
  return rateLimit({
    limit,
    windowMs,
    handler: (req, res) => {
      const { resetTime } = (req as object as { rateLimit: RateLimitInfo }).rateLimit
      res.status(429).json({ retryAfterMs: Number(resetTime) - Date.now() })
    },
    ...options,
  })
}
