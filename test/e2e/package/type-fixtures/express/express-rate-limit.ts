// Code that was written for express-rate-limit 8, after a change of its imports.
import express, { type Request, type Response } from 'express'
import rateLimitByDefault, {
  type AugmentedRequest,
  ipKeyGenerator,
  MemoryStore,
  type Options,
  type RateLimitRequestHandler,
  rateLimit,
  type Store,
} from 'headgate/express-rate-limit'

class CountingStore implements Store {
  windowMs = 0
  counts = new Map<string, number>()

  init(options: Options): void {
    this.windowMs = options.windowMs
  }

  async increment(key: string) {
    const totalHits = (this.counts.get(key) ?? 0) + 1
    this.counts.set(key, totalHits)
    return { totalHits, resetTime: new Date(Date.now() + this.windowMs) }
  }

  decrement(): void {}

  async resetKey(key: string): Promise<void> {
    this.counts.delete(key)
  }
}

const options: Partial<Options> = {
  windowMs: 15 * 60 * 1000,
  limit: async (req: Request) => (req.path === '/' ? 5 : 10),
  standardHeaders: 'draft-8',
  legacyHeaders: false,
  ipv6Subnet: 64,
  skip: (req) => req.method === 'OPTIONS',
  keyGenerator: (req, res) => res.locals.user ?? ipKeyGenerator(req.ip ?? ''),
  handler: (req, res, next, { statusCode, message }) => {
    if (req.path === '/pass') next()
    else res.status(statusCode).send(message)
  },
  message: (_req: Request, res: Response) => `Try again, ${res.locals.user}`,
  validate: { trustProxy: false, default: true },
  store: new CountingStore(),
}

const limiter: RateLimitRequestHandler = rateLimit(options)
const app = express()
app.use(limiter, rateLimitByDefault(), rateLimit({ store: new MemoryStore() }))
app.get('/', async (req, res) => {
  const info = (req as AugmentedRequest).rateLimit
  const key: string = info?.key ?? 'nobody'
  const count = await limiter.getKey(key)
  limiter.resetKey(key)
  const resetAt = info?.resetTime?.toISOString()
  res.json({ limit: info?.limit.toFixed(), used: info?.used, resetAt, hits: count?.totalHits.toFixed() })
})

// @ts-expect-error: a window is a number of milliseconds
rateLimit({ windowMs: '15m' })
// @ts-expect-error: there is no such draft
rateLimit({ standardHeaders: 'draft-5' })
