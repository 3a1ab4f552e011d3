// Options as they are written in a route: callbacks without annotations.
import express from 'express'
import { byField, byHeader, byIp, byUser, loginGuard, rateLimit, tokenBucket } from 'headgate'

const free = tokenBucket({ capacity: 10, refill: 10, every: '1m' })
const paid = tokenBucket({ capacity: 100, refill: 100, every: '1m' })

const app = express()
app.use(rateLimit({ limit: 100, window: '1m', skip: (req) => req.path === '/health' }))
app.use(rateLimit({ limit: 100, window: '1m', key: (req) => req.get('x-api-key') }))
app.use(
  rateLimit({
    limit: 100,
    window: '1m',
    onDenied: (req, res) => res.status(429).render('limited', { path: req.originalUrl }),
  }),
)
app.use(
  rateLimit({
    policy: (req) => (req.get('x-plan') === 'paid' ? paid : free),
    key: [
      byUser((req) => req.get('x-user'), { anonymous: byIp() }),
      (req) => req.hostname,
      byHeader('x-api-key'),
      byIp(),
    ],
    cost: async (req) => (req.xhr ? 1 : 2),
    count: (_req, res) => res.locals.counts === true,
    onStoreError: (error, req) => (error.replied && req.secure ? 'allow' : 'local'),
    onDenied(req, res, next, decision) {
      if (req.accepts('html')) res.status(429).json({ retryAfterMs: decision.retryAfterMs })
      else next()
    },
  }),
)
app.use(
  '/api',
  rateLimit({
    limits: [
      { name: 'burst', policy: free, key: (req) => req.ip, cost: (req) => (req.fresh ? 0 : 1) },
      {
        name: 'user',
        policy: (req) => (req.secure ? paid : free),
        skip: (req) => req.fresh,
        key: byUser((req) => req.get('x-user')),
      },
      { name: 'name', policy: free, key: [byField('username'), byUser(), (req) => req.subdomains[0]] },
    ],
    skip: async (req, res) => req.method === 'OPTIONS' && res.locals.trusted,
  }),
)
app.post('/login', loginGuard({ field: 'username', succeeded: (_req, res) => res.locals.ok }))
app.post(
  '/code',
  loginGuard({
    account: (req) => req.get('x-account'),
    skip: (req) => req.path === '/health',
    address: byUser((req) => req.socket.remoteAddress, { anonymous: (req) => req.ip }),
    onLockout: (account, req) => `${account} at ${req.originalUrl}`,
    onDenied: (_req, res, _next, decision) => res.status(decision.allowed ? 200 : 429).render('locked'),
    succeeded: (req, res) => req.path === '/code' && res.statusCode === 200,
    name: 'code',
    deviceCookie: { secret: '0123456789abcdef', epoch: (account, req) => `${account}${req.hostname}` },
  }),
)
