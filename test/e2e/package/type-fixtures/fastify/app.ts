// What applications of Fastify write, without an annotation.
import { fastify } from 'fastify'
import plugin, {
  byField,
  byRoute,
  byUser,
  candidateLimits,
  loginGuard,
  overloadGuard,
  rateLimit,
  rateLimitHook,
  requestDelay,
  responseCost,
  slidingWindow,
} from 'headgate/fastify'

const app = fastify()

await app.register(rateLimit, {
  limit: 100,
  window: '1m',
  key: [byUser((request) => request.headers['x-user']), byRoute()],
  skip: (request, reply) => request.url === '/health' || reply.sent,
  count: (_request, reply) => reply.statusCode < 500,
  onDenied: (request, reply, { retryAfterMs }) => {
    request.log.info({ retryAfterMs })
    return reply.code(429).send({ error: 'slow down' })
  },
})

await app.register(rateLimit, {
  limit: 100,
  window: '1m',
  candidate: candidateLimits({ limit: 9, window: '1m', key: (request) => request.url }),
  delay: requestDelay({ after: 50, by: (used, request) => used * request.url.length }),
  actualCost: responseCost((request, reply) => (request.is404 ? 1 : reply.statusCode)),
})

// As a module, whose default export is the plugin.
await app.register(import('headgate/fastify'), { limit: 100, window: '1m', hook: 'preHandler' })
await app.register(plugin, { limit: 100, window: '1m' })

for (const limiter of app.rateLimiters) {
  limiter.events.on('denied', (decision, request) => request.log.info(decision.limitName))
}

interface Login {
  Body: { username: string; password: string }
}

const overload = overloadGuard({
  priority: ({ url }) => (url === '/pay' ? 'critical' : undefined),
  routeClass: (request, reply) => `${request.method} ${reply.statusCode}`,
  onDenied: (_request, reply, { retryAfterMs }) => reply.send({ retryAfterMs }),
})
app.addHook('onRequest', overload)
app.get('/status', () => overload.status().limit)

const guard = loginGuard({ field: 'username', succeeded: (_request, reply) => reply.statusCode === 204 })
const policy = slidingWindow({ limit: 5, window: '1h' })

app.post<Login>('/login', { preHandler: guard }, async (request, reply) => {
  if (request.body.password === 'right') guard.reportSuccess(request)
  return reply.code(204).send()
})
app.post<Login>(
  '/signup',
  { config: { rateLimit: { policy, key: byField('username'), hook: 'preValidation' } } },
  async (request) => ({ remaining: request.rateLimit?.remaining }),
)
app.get('/health', { config: { rateLimit: false } }, () => 'ok')

export const limitSearch = rateLimitHook({ limit: 10, window: '1s', key: (request) => request.ip })

app.get<{ Querystring: { q: string } }>(
  '/search',
  { schema: { querystring: { type: 'object' } }, onRequest: [limitSearch] },
  async (request) => request.query.q,
)
app.register(async (child) => {
  child.addHook('preHandler', limitSearch)
})

const http2 = fastify({ http2: true })
await http2.register(rateLimit, { limit: 100, window: '1m' })
http2.get('/search', { onRequest: limitSearch }, () => 'found')
http2.post<Login>('/login', { preHandler: [limitSearch, guard] }, () => 'welcome')
http2.addHook('preHandler', limitSearch)
