import { createServer } from 'node:http'
import { rateLimit } from 'headgate/koa'
import Koa, { type Middleware } from 'koa'
import peerRateLimit from 'koa-ratelimit'
import type { FrameworkContenders } from './contender.js'

export const KOA: FrameworkContenders = {
  nothing: () => serve((_ctx, next) => next()),
  headgate: ({ limit, windowMs: window }) => serve(rateLimit({ limit, window })),
  usual: ({ limit: max, windowMs: duration }) => {
    const headers = {
      total: 'X-RateLimit-Limit',
      remaining: 'X-RateLimit-Remaining',
      reset: 'X-RateLimit-Reset',
    }
    return serve(peerRateLimit({ driver: 'memory', db: new Map(), duration, max, headers }))
  },
}

function serve(limit: Middleware) {
  const app = new Koa()
  app.use(limit).use((ctx) => {
    ctx.body = 'hello'
  })
  return createServer(app.callback())
}
