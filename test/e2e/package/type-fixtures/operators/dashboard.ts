// The dashboard shows limiters of every kind.
import { createLimiter, fixedWindow, loginGuard, memoryStore, rateLimit } from 'headgate'
import { type DashboardOptions, dashboard } from 'headgate/dashboard'
import { rateLimitHook } from 'headgate/fastify'
import { rateLimit as fetchRateLimit } from 'headgate/fetch'
import { rateLimit as honoRateLimit } from 'headgate/hono'
import { rateLimit as httpRateLimit } from 'headgate/http'
import { rateLimit as koaRateLimit } from 'headgate/koa'

const options = { limit: 100, window: '1m' } as const
const authorize = () => true
const jobs = createLimiter({ key: (job: string) => job, policy: fixedWindow(options), store: memoryStore() })

dashboard({ limiters: [rateLimit(options).limiter], authorize })
dashboard({ limiters: [loginGuard({ field: 'email' }).limiter], authorize })
dashboard({ limiters: [jobs], authorize })
dashboard({ limiters: [httpRateLimit(options).limiter], authorize })
dashboard({ limiters: [fetchRateLimit(options).limiter], authorize })
dashboard({ limiters: [honoRateLimit(options).limiter], authorize })
dashboard({ limiters: [koaRateLimit(options).limiter], authorize })
dashboard({ limiters: [rateLimitHook(options).limiter], authorize })
dashboard({ limiters: [rateLimit(options).limiter, jobs, koaRateLimit(options).limiter], authorize })

const limiters: DashboardOptions['limiters'] = [rateLimit(options).limiter, jobs]
export const page = dashboard({ limiters, authorize: async (req) => req.url !== undefined })
