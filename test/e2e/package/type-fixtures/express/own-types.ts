// Requests and responses that the project declares: annotated once, and inferred for the other callbacks.
import type { IncomingMessage, ServerResponse } from 'node:http'
import express, { type Request, type Response } from 'express'
import { byIp, byRoute, byUser, createLimiter, loginGuard, type RateLimitOptions, rateLimit } from 'headgate'

interface TenantRequest extends Request {
  tenant: { id: string; plan: 'free' | 'paid' }
}
interface PageResponse extends Response<string> {
  theme: string
}

const limiter = rateLimit({
  limit: 2,
  window: '1m',
  key: (req: TenantRequest) => req.tenant.id,
  skip: (req) => req.tenant.plan === 'paid',
  onDenied: (req, res) => res.status(429).render(req.tenant.plan),
})
export const nested = rateLimit({
  limits: [{ limit: 2, window: '1m', key: byUser((req: TenantRequest) => req.tenant.id) }],
  cost: 2,
})
export const several = rateLimit({
  limit: 2,
  window: '1m',
  key: [byIp(), byUser(), (req: TenantRequest) => req.tenant.id, byRoute()],
  skip: (req) => req.tenant.plan === 'paid',
})
export const users = rateLimit({
  limit: 2,
  window: '1m',
  key: byUser((req: TenantRequest) => req.tenant.id, { anonymous: byIp() }),
  skip: (req) => req.tenant.plan === 'paid',
})
export const anonymous = rateLimit({
  limit: 2,
  window: '1m',
  key: byUser(undefined, { anonymous: (req: TenantRequest) => req.tenant.id }),
})
export const explicit = rateLimit<TenantRequest, PageResponse>({
  limit: 2,
  window: '1m',
  skip: (req, res) => req.tenant.id === res.theme,
})
export const ofOptions = rateLimit({
  limit: 2,
  window: '1m',
  cost: (req) => (req.tenant.plan === 'paid' ? 1 : 2),
} satisfies RateLimitOptions<TenantRequest>)
export const responses = rateLimit({
  limit: 2,
  window: '1m',
  skip: (req) => req.path === '/health',
  onDenied: (_req, res: PageResponse) => res.status(429).send(res.theme),
})
export const counted = rateLimit({
  limit: 2,
  window: '1m',
  key: (req: TenantRequest) => req.tenant.id,
  skip: (req) => req.tenant.plan === 'paid',
  count: (_req, res: PageResponse) => res.theme === 'dark',
})
export const guard = loginGuard({
  account: (req: TenantRequest) => req.tenant.id,
  succeeded: (req, res) => req.tenant.plan === 'free' && res.locals.ok,
})
export const plain = rateLimit({
  limit: 2,
  window: '1m',
  skip: (req: IncomingMessage, res: ServerResponse) => req.url === '/health' && res.headersSent,
})
export const bodies = rateLimit({
  limit: 2,
  window: '1m',
  key: (req: Request<object, string, { name: string }>) => req.body.name,
})
limiter.limiter.events.on('denied', (_decision, req) => console.log(req.tenant.plan))

const app = express()
app.use(limiter, nested, several, users, anonymous, explicit, plain, bodies)
app.get('/tenants/:id', limiter, (req, res) => {
  const id: string = req.params.id
  res.json({ id })
})

export const jobs = createLimiter({ limit: 2, window: '1m', key: (job: { queue: string }) => job.queue })
jobs.charge({ queue: 'mail' })
export const requests = createLimiter({
  limit: 2,
  window: '1m',
  key: [byIp(), (req: TenantRequest) => req.tenant.id],
  cost: (req) => (req.tenant.plan === 'paid' ? 1 : 2),
})
