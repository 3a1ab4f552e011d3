import { ban, byHeader, fixedWindow, rateLimit, slidingLog, tokenBucket } from 'headgate/hono'
import { type Context, Hono } from 'hono'
import { store } from 'store-of-the-runtime'

const key = byHeader('x-client')
const timeout = '30s' // longer than a busy machine takes
const app = new Hono()

// Two limits at once: one of each client, and one of all. If both deny, clients wait longer for the first.
const each = slidingLog({ limit: 8, window: '2d' })
const together = fixedWindow({ limit: 40, window: '1d', startsAt: 'first-request' })
const limits = [
  { name: 'each', policy: each, key },
  { name: 'together', policy: together, key: () => 'everyone' },
]
app.use('/search', rateLimit({ name: 'search', store, timeout, limits, headers: 'both' }))
app.get('/search', (c) => c.json({ left: c.get('rateLimit')?.remaining }))

// A cost that the request states.
const items = tokenBucket({ capacity: 20, refill: 1, every: '1h' })
const cost = (c: Context) => Number(c.req.header('x-items'))
app.use('/orders', rateLimit({ name: 'orders', store, timeout, key, policy: items, cost }))
app.post('/orders', (c) => c.json({ ordered: c.req.header('x-items') }, 201))

// Failures only, and a ban of whoever goes on.
const guesses = ban(slidingLog({ limit: 3, window: '1d' }), { after: 3, within: '1d', for: '2d' })
app.use(
  '/codes/*',
  rateLimit({ name: 'codes', store, timeout, key, policy: guesses, count: 'failed', headers: 'draft' }),
)
app.get('/codes/:code', (c) =>
  c.json({ code: c.req.param('code') }, c.req.param('code') === 'right' ? 200 : 404),
)

app.onError((error, c) => c.text(`${error.stack}`, 500))

export default app
