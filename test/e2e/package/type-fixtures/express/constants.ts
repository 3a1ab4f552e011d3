// Options and middleware that stand in constants of their own.
import express from 'express'
import {
  adjustments,
  byUser,
  createLimiter,
  type Decision,
  type KeyFunction,
  type LoginGuard,
  type LoginGuardOptions,
  loginGuard,
  type RateLimitMiddleware,
  type RateLimitOptions,
  rateLimit,
} from 'headgate'

const limiter = rateLimit({ limit: 100, window: '1m', skip: (req) => req.path === '/health' })
const byApiKey = rateLimit({ limit: 100, window: '1m', key: (req) => req.get('x-api-key') })
const page = rateLimit({
  limit: 2,
  window: '1m',
  onDenied: (_req, res) => res.status(429).render('limited'),
})
const guard = loginGuard({ field: 'username', succeeded: (_req, res) => res.locals.ok })

const common = { window: '1m', headers: 'draft' } satisfies Partial<RateLimitOptions>
const checked = {
  ...common,
  limit: 100,
  key: byUser((req) => req.get('x-user')),
  skip: (req) => req.path === '/health',
  count: (_req, res) => res.statusCode >= 400,
} satisfies RateLimitOptions
const declared: RateLimitOptions = { limit: 100, window: '1m', skip: (req) => req.secure }
const declaredGuard: LoginGuardOptions = { field: 'username', succeeded: (_req, res) => res.locals.ok }
const declaredLimiter: RateLimitMiddleware = rateLimit(declared)
const declaredLogin: LoginGuard = loginGuard(declaredGuard)

const tenant = byUser((req) => req.get('x-tenant'))
const tenantKey: KeyFunction<express.Request> = tenant
const ofTenants = rateLimit({ ...checked, key: [tenant, tenantKey] })

/** A function of the user's own around `rateLimit`. */
function strict(options: RateLimitOptions): RateLimitMiddleware {
  return rateLimit({ ...options, onStoreError: 'deny', mode: process.env.DRY_RUN ? 'report' : 'enforce' })
}

const app = express()
app.use(limiter, byApiKey, page, rateLimit(checked), declaredLimiter, ofTenants)
app.use('/api', strict({ limit: 1, window: '1s', skip: (req) => req.ip === '127.0.0.1' }), express.Router())
app.use([limiter, byApiKey])
app.post('/login', guard, (req, res) => {
  guard.reportSuccess(req)
  res.sendStatus(204)
})
app.post('/logout', declaredLogin, async (req, res) => {
  const decision: Decision = await limiter.limiter.charge(req, { cost: 2 })
  await adjustments(guard.limiter).forget({ body: { username: 'ada' } })
  res.json({ decision, account: await guard.accountId(req) })
})
guard.events.on('security', (event, req) => console.log(event.event, req.ip))
limiter.limiter.events.on('denied', (decision, req) => console.log(decision.limitName, req.originalUrl))

const sockets = createLimiter<{ player: string }>({ limit: 1, window: '1s', key: ({ player }) => player })
const requests = createLimiter<express.Request>({ limit: 1, window: '1s', key: (req) => req.get('x-user') })
export const charged = [
  sockets.charge({ player: 'ada' }),
  requests.peek({ ip: '192.0.2.7' } as express.Request),
]
