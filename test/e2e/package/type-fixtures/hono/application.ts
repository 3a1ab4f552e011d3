// Hono applications with the default context, and with an environment of their own.

import {
  byField,
  byIp,
  byRoute,
  byUser,
  candidateLimits,
  createLimiter,
  type Decision,
  type LoginGuardOptions,
  loginGuard,
  type OverloadGuard,
  type OverloadGuardOptions,
  overloadGuard,
  type RateLimitMiddleware,
  type RateLimitOptions,
  rateLimit,
  requestDelay,
  responseCost,
  tokenBucket,
} from 'headgate/hono'
import { type Context, Hono } from 'hono'

const limit = { limit: 2, window: '1h' } as const

const limiter = rateLimit({
  ...limit,
  key: [byIp(), byRoute(), byUser(), (c) => c.req.header('x-api-key')],
  skip: (c) => c.req.path === '/health',
  cost: async (c) => (c.req.method === 'GET' ? 1 : 2),
  count: (c, response) => response.status >= 400 || c.finalized,
  onDenied: (c, { retryAfterMs }) => c.json({ path: c.req.path, retryAfterMs }, 429),
})
const overload = overloadGuard({
  priority: (c) => (c.req.path === '/pay' ? 'critical' : undefined),
  tenant: (c) => c.req.header('x-tenant'),
  routeClass: (c, response) => `${c.req.method} ${response.status}`,
  skip: (c) => c.req.path === '/health',
  onDenied: (c, { retryAfterMs }) => c.json({ retryAfterMs }, 503),
})
const guard = loginGuard({
  account: (c) => c.req.header('x-account'),
  address: byUser((c) => c.req.header('x-user'), { anonymous: byIp() }),
  succeeded: (c, response) => response.status === 204 && c.req.path === '/login',
  onDenied: (c) => c.text('wait', 429),
})

export const imported = rateLimit({
  ...limit,
  candidate: candidateLimits({
    ...limit,
    key: (c) => c.req.header('x-api-key'),
    cost: (c) => c.req.path.length,
  }),
  delay: requestDelay({ after: 1, by: (used, c) => used * c.req.path.length }),
  actualCost: responseCost((c, response) => c.req.path.length + response.status),
})

const app = new Hono()
app.use(limiter)
app.get('/users/:id', limiter, (c) => {
  const decision: Decision | undefined = c.get('rateLimit')
  return c.text(`${c.req.param('id')} ${decision?.remaining}`)
})
app.post('/login', guard, (c) => {
  guard.reportSuccess(c)
  return c.body(null, 204)
})
limiter.limiter.events.on('denied', (_decision, c) => console.log(c.req.path))
guard.events.on('security', (event, c) => console.log(event.event, c.req.path))

export const overloadOptions: OverloadGuardOptions = { maxWait: '50ms', weight: () => 1, tenant: () => 'a' }
export const declaredOverload: OverloadGuard = overloadGuard(overloadOptions)
app.use(overload)
export const query = () => overload.run(async (signal) => signal?.aborted, { priority: 'bulk' })

export const options = { ...limit, skip: (c) => c.req.path === '/' } satisfies RateLimitOptions
export const declared: RateLimitMiddleware = rateLimit(options)
export const guardOptions: LoginGuardOptions = { field: 'username', failureRedirect: '/login' }
export const declaredGuard = loginGuard(guardOptions)

interface Env {
  Bindings: { plan: 'free' | 'paid' }
  Variables: { tenant: string }
}
type TenantContext = Context<Env>

const perTenant = rateLimit({
  key: (c: TenantContext) => c.get('tenant'),
  policy: (c) => tokenBucket({ capacity: c.env.plan === 'paid' ? 9 : 3, refill: 1, every: '1m' }),
  skip: (c) => c.env.plan === 'paid',
  onDenied: (c) => c.text(c.get('tenant'), 429),
})
export const ofOptions = rateLimit({
  ...limit,
  skip: (c) => c.env.plan === 'paid',
} satisfies RateLimitOptions<TenantContext>)
const typed = new Hono<Env>()
typed.use(limiter).use(perTenant)
typed.get('/items/:item', limiter, perTenant, (c) => c.text(`${c.req.param('item')} ${c.get('tenant')}`))
perTenant.limiter.events.on('denied', (_decision, c) => console.log(c.env.plan))

export const requests = createLimiter({
  ...limit,
  key: [byField('name'), (c: TenantContext) => c.get('tenant')],
})

export const mistakes = [
  // @ts-expect-error: there is no such option
  () => rateLimit({ ...limit, max: 2 }),
  // @ts-expect-error: contexts have no such method
  () => rateLimit({ ...limit, skip: (c) => c.isAdmin() }),
  // @ts-expect-error: there is no response yet
  () => rateLimit({ ...limit, skip: (_c, response) => response.ok }),
  // @ts-expect-error: contexts have no such property
  () => rateLimit({ ...limit, candidate: candidateLimits({ ...limit, key: (c) => c.plan }) }),
  // @ts-expect-error: contexts have no such property
  () => rateLimit({ ...limit, candidate: candidateLimits({ limits: [{ ...limit, key: (c) => c.plan }] }) }),
  // @ts-expect-error: responses have no such property
  () => rateLimit({ ...limit, actualCost: responseCost((_c, response) => response.tokens) }),
  // @ts-expect-error: a response is missing
  () => rateLimit({ ...limit, onDenied: () => undefined }),
  // @ts-expect-error: there is no such option
  () => loginGuard({ feild: 'username' }),
  // @ts-expect-error: there is no such class
  () => overloadGuard({ priority: () => 'urgent' }),
]

// @ts-expect-error: a limit needs a window
export const noWindow = () => rateLimit({ limit: 2 })
