import type { Request, Response } from 'express'
import { createLimiter, memoryStore, type RateLimitOptions, rateLimit, slidingLog } from 'headgate'
import { redisStore } from 'headgate/redis'
import { type Contender, redisAt, serveExpress } from '../contender.js'

export const headgate: Contender = {
  name: 'headgate',
  findsClients: true,
  denies: true,
  limiter(limits) {
    const all = limits.map(({ name, limit, windowMs }) => ({ name, limit, window: windowMs }))
    return serveExpress(rateLimit({ limits: all, onDenied }))
  },
  strictest: ({ limit, windowMs }) =>
    serveExpress(rateLimit({ policy: slidingLog({ limit, window: windowMs }), onDenied })),
  memory() {
    const store = memoryStore({ maxKeys: 500 })
    const limiter = createLimiter<string>({ limit: 10, window: '1h', key: (client) => client, store })
    return (client) => limiter.charge(client)
  },
  onRedis(url) {
    const api = rateLimit({ limit: 1000, window: '1m', name: 'one', store: redisStore(redisAt(url)) })
    api.limiter.events.on('storeError', () => {}) // in place of a process warning
    return serveExpress(api)
  },
}

const onDenied: NonNullable<RateLimitOptions<Request, Response>['onDenied']> = (
  _req,
  res,
  _next,
  decision,
) => {
  res.json({ retryAfterMs: decision.retryAfterMs })
}
