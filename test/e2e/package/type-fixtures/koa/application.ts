// Koa applications with the default types, and with a state and a context of their own.
import Router from '@koa/router'
import {
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
} from 'headgate/koa'
import Koa, { type Context, type ParameterizedContext } from 'koa'

const limit = { limit: 2, window: '1h' } as const

export const imported = rateLimit({
  ...limit,
  candidate: candidateLimits({
    ...limit,
    key: (ctx) => ctx.get('x-api-key'),
    cost: (ctx) => ctx.path.length,
  }),
  delay: requestDelay({ after: 1, by: (used, ctx) => used * ctx.path.length }),
  actualCost: responseCost((ctx, response) => ctx.path.length + response.status),
})

const limiter = rateLimit({
  ...limit,
  key: [byIp(), byRoute(), byUser(), (ctx) => ctx.get('x-api-key')],
  skip: (ctx) => ctx.path === '/health',
  count: (ctx, response) => ctx.status === 401 || response.type === 'text/html',
  onDenied(ctx, next, decision) {
    ctx.body = { path: ctx.path, retryAfterMs: decision.retryAfterMs }
    return next()
  },
})
const overload = overloadGuard({
  priority: (ctx) => (ctx.path === '/pay' ? 'critical' : undefined),
  tenant: (ctx) => ctx.state.user.tenant,
  routeClass: (ctx, response) => `${ctx.method} ${response.status}`,
  onDenied: (ctx, _next, { retryAfterMs }) => {
    ctx.body = { retryAfterMs }
  },
})
const guard = loginGuard({
  account: (ctx) => ctx.state.user.id,
  address: byUser((ctx) => ctx.state.user.id, { anonymous: byIp() }),
  succeeded: (ctx) => ctx.status === 204,
})
const app = new Koa()
app.use(overload).use(limiter).use(guard)
app.use((ctx) => {
  const decision: Decision | undefined = ctx.rateLimit
  guard.reportSuccess(ctx)
  ctx.body = `${decision?.remaining}`
})
limiter.limiter.events.on('denied', (_decision, ctx) => console.log(ctx.path))

export const overloadOptions: OverloadGuardOptions = { maxWait: '50ms' }
export const declaredOverload: OverloadGuard = overloadGuard(overloadOptions)

export const options = { ...limit, skip: (ctx) => ctx.secure } satisfies RateLimitOptions
export const declared: RateLimitMiddleware = rateLimit(options)
export const guardOptions: LoginGuardOptions = { field: 'username', failureRedirect: '/login' }

interface State {
  user: { id: string; plan: 'free' | 'paid' }
}
interface Own {
  tenant: string
}
type TenantContext = ParameterizedContext<State, Own>

const perTenant = rateLimit({
  key: (ctx: TenantContext) => ctx.tenant,
  policy: (ctx) => tokenBucket({ capacity: ctx.state.user.plan === 'paid' ? 9 : 3, refill: 1, every: '1m' }),
  onDenied: (ctx) => ctx.throw(429, ctx.tenant),
})
const typed = new Koa<State, Own>()
typed.use(limiter).use(perTenant)
typed.use(async (ctx, next) => {
  console.log(ctx.tenant, ctx.state.user.plan, ctx.rateLimit?.remaining)
  await next()
})
const router = new Router<State, Own>()
router.get('/users/:id', limiter, perTenant, guard, (ctx) => {
  ctx.body = `${ctx.params.id} ${ctx.tenant} ${ctx.rateLimit?.remaining}`
})
typed.use(router.routes())

export const requests = createLimiter({ ...limit, key: (ctx: Context) => ctx.ip })

export const mistakes = [
  // @ts-expect-error: there is no such option
  () => rateLimit({ ...limit, max: 2 }),
  // @ts-expect-error: contexts have no such method
  () => rateLimit({ ...limit, onDenied: (ctx: TenantContext) => ctx.json({}) }),
  // @ts-expect-error: there is no such option
  () => loginGuard({ feild: 'username' }),
  // @ts-expect-error: there is no such class
  () => overloadGuard({ priority: () => 'urgent' }),
]

// @ts-expect-error: a limit needs a window
export const noWindow = () => rateLimit({ limit: 2 })
