import { rateLimit as peerRateLimit } from 'express-rate-limit'
import { rateLimit } from 'headgate'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { BenchRequest, BenchResponse, Middleware } from './bench-request.js'

/** The headers that everybody sets alike: `X-RateLimit-*`, or those and the IETF draft's. */
export type Headers = 'legacy' | 'both'

const WINDOW_S = 24 * 60 * 60

/** Does nothing but what it must: goes on, or where all are denied, answers. */
function empty(limit: number): Middleware {
  if (limit > 1) return (_req, _res, next) => next()
  return (_req, res) => {
    res.statusCode = 429
    res.end('Too many requests, please try again later.')
  }
}

function headgate(limit: number, headers: Headers): Middleware {
  return rateLimit({ limit, window: '24h', headers })
}

function expressRateLimit(limit: number, headers: Headers): Middleware {
  const standardHeaders = headers === 'both' ? 'draft-8' : false
  const middleware = peerRateLimit({
    limit,
    windowMs: WINDOW_S * 1000,
    legacyHeaders: true,
    standardHeaders,
  })
  return middleware as unknown as Middleware
}

/** rate-limiter-flexible has no middleware; this is what its users write. */
function rateLimiterFlexible(limit: number, headers: Headers): Middleware {
  const limiter = new RateLimiterMemory({ points: limit, duration: WINDOW_S })
  function show(res: BenchResponse, { remainingPoints, msBeforeNext }: RateLimiterRes): void {
    res.setHeader('X-RateLimit-Limit', String(limit))
    res.setHeader('X-RateLimit-Remaining', String(remainingPoints))
    res.setHeader('X-RateLimit-Reset', String(Math.ceil((Date.now() + msBeforeNext) / 1000)))
    if (headers === 'legacy') return
    res.setHeader('RateLimit-Policy', `"default";q=${limit};w=${WINDOW_S}`)
    res.setHeader('RateLimit', `"default";r=${remainingPoints};t=${Math.ceil(msBeforeNext / 1000)}`)
  }
  return async (req: BenchRequest, res: BenchResponse, next) => {
    try {
      show(res, await limiter.consume(req.ip))
    } catch (denial) {
      if (!(denial instanceof RateLimiterRes)) throw denial
      show(res, denial)
      res.setHeader('Retry-After', String(Math.ceil(denial.msBeforeNext / 1000)))
      res.setHeader('Content-Type', 'text/plain; charset=utf-8')
      res.statusCode = 429
      res.end('Too many requests, please try again later.')
      return
    }
    next()
  }
}

/** Makers by name. Each limits every client to `limit` in 24 hours. */
export const MIDDLEWARES = {
  empty,
  headgate,
  'express-rate-limit': expressRateLimit,
  'rate-limiter-flexible': rateLimiterFlexible,
} as const

export type MiddlewareName = keyof typeof MIDDLEWARES
