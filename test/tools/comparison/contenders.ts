import type { Contender } from './contender.js'
import { bottleneck } from './contenders/bottleneck.js'
import { expressRateLimit } from './contenders/express-rate-limit.js'
import { headgate } from './contenders/headgate.js'
import { honoRateLimiter } from './contenders/hono-rate-limiter.js'
import { nestThrottler } from './contenders/nest-throttler.js'
import { rateLimiterFlexible } from './contenders/rate-limiter-flexible.js'
import { upstashRatelimit } from './contenders/upstash-ratelimit.js'

/** In the order of the table's columns. */
export const CONTENDERS: readonly Contender[] = [
  headgate,
  ...[expressRateLimit, rateLimiterFlexible, nestThrottler, honoRateLimiter, upstashRatelimit, bottleneck],
]
