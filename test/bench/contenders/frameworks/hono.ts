import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { rateLimit } from 'headgate/fetch'
import { Hono, type MiddlewareHandler } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import type { FrameworkContenders } from './contender.js'

export const HONO: FrameworkContenders = {
  nothing: () => serve((_c, next) => next()),
  headgate({ limit, windowMs: window }) {
    const limiter = rateLimit({ limit, window })
    return serve(async (c, next) => {
      const refused = await limiter(c.req.raw, { ip: getConnInfo(c).remote.address })
      if (refused !== undefined) return refused
      await next()
      const response = limiter.finish(c.req.raw, c.res)
      if (response !== c.res) c.res = response
    })
  },
  usual: ({ limit, windowMs }) =>
    serve(rateLimiter({ limit, windowMs, keyGenerator: (c) => getConnInfo(c).remote.address ?? '' })),
}

function serve(limit: MiddlewareHandler): Server {
  const app = new Hono()
  app.use(limit).get('/', (c) => c.text('hello'))
  return createAdaptorServer({ fetch: app.fetch }) as Server
}
