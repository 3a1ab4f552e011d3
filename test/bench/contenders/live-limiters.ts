import { subscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import type { Request, RequestHandler, Response } from 'express'
import { type Store as PeerStore, rateLimit as peerRateLimit } from 'express-rate-limit'
import { candidateLimits, rateLimit } from 'headgate'
import { dashboard } from 'headgate/dashboard'
import { rateLimit as adaptedRateLimit } from 'headgate/express-rate-limit'
import { openTelemetryMetrics, prometheusMetrics } from 'headgate/metrics'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import client from 'prom-client'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible'
import { createClient } from 'redis'

/** What a contender is made for. */
export interface Setting {
  readonly limit: number
  /** Where the counts are; in memory without it. */
  readonly redisUrl?: string
}

type Headers = 'legacy' | 'draft' | 'both' | 'none'

const WINDOW_S = 24 * 60 * 60
const WINDOW_MS = WINDOW_S * 1000
const MESSAGE = 'Too many requests, please try again later.'
export const connect = (url: string) => new Redis(url, { autoResendUnfulfilledCommands: false })

let made = 0

/** The first requests wait for the connection. */
function connectNodeRedis(url: string) {
  const client = createClient({ url }).on('error', (error) => {
    throw error // no connection is lost here
  })
  client.connect()
  return client
}

function headgate(headers: Headers, connectTo: (url: string) => Parameters<typeof redisStore>[0] = connect) {
  return ({ limit, redisUrl }: Setting): RequestHandler => {
    const name = `limiter-${made++}`
    const store = redisUrl === undefined ? {} : { store: redisStore(connectTo(redisUrl)) }
    return rateLimit({ limit, window: '24h', headers, name, ...store })
  }
}

/** The API of express-rate-limit: its own, or the one of headgate. */
function expressRateLimit(headers: Headers, makeLimiter: typeof peerRateLimit = peerRateLimit) {
  return ({ limit, redisUrl }: Setting): RequestHandler => {
    const store = redisUrl === undefined ? {} : { store: rateLimitRedis(redisUrl) }
    return makeLimiter({
      limit,
      windowMs: WINDOW_MS,
      legacyHeaders: headers === 'legacy' || headers === 'both',
      standardHeaders: headers === 'draft' || headers === 'both' ? 'draft-8' : false,
      ...store,
    })
  }
}

function rateLimitRedis(url: string): PeerStore {
  const client = connect(url)
  const sendCommand = (...args: string[]) =>
    client.call(...(args as [string, ...string[]])) as Promise<RedisReply>
  return new RedisStore({ sendCommand, prefix: `rl-${made++}:` })
}

/** What users of rate-limiter-flexible write: it has no middleware. */
function rateLimiterFlexible({ limit, redisUrl }: Setting): RequestHandler {
  const options = { points: limit, duration: WINDOW_S, keyPrefix: `rlf-${made++}` }
  const limiter: RateLimiterAbstract =
    redisUrl === undefined
      ? new RateLimiterMemory(options)
      : new RateLimiterRedis({ ...options, storeClient: connect(redisUrl) })
  const show = (res: Response, { remainingPoints, msBeforeNext }: RateLimiterRes) =>
    setThree(res, limit, remainingPoints, Date.now() + msBeforeNext)
  return (req, res, next) => {
    limiter.consume(req.ip as string).then(
      (granted) => {
        show(res, granted)
        next()
      },
      (denial: unknown) => {
        if (!(denial instanceof RateLimiterRes)) return next(denial)
        show(res, denial)
        refuse(res, denial.msBeforeNext)
      },
    )
  }
}

/** The least that anybody could write. */
function byHand({ limit }: Setting): RequestHandler {
  const clients = new Map<string, { count: number; endsAtMs: number }>()
  return (req, res, next) => {
    const nowMs = Date.now()
    const ip = req.ip as string
    let client = clients.get(ip)
    if (client === undefined || client.endsAtMs <= nowMs) {
      client = { count: 0, endsAtMs: nowMs + WINDOW_MS }
      clients.set(ip, client)
    }
    client.count++
    setThree(res, limit, Math.max(0, limit - client.count), client.endsAtMs)
    if (client.count > limit) refuse(res, client.endsAtMs - nowMs)
    else next()
  }
}

function setThree(res: Response, limit: number, remaining: number, resetAtMs: number): void {
  res.setHeader('X-RateLimit-Limit', limit)
  res.setHeader('X-RateLimit-Remaining', remaining)
  res.setHeader('X-RateLimit-Reset', Math.ceil(resetAtMs / 1000))
}

function refuse(res: Response, retryAfterMs: number): void {
  res.setHeader('Retry-After', Math.ceil(retryAfterMs / 1000))
  res.status(429).send(MESSAGE)
}

/** Makers of middleware that needs a Redis, by name; other makers take one, and connect by ioredis. */
export const LIVE_REDIS_LIMITERS = {
  'headgate on redis 6, legacy': headgate('legacy', connectNodeRedis),
} as const satisfies Readonly<Record<string, (setting: Setting) => RequestHandler>>

/** headgate with somebody who listens: to events or a channel, or by metrics, or with a candidate. */
function observed(observe: (limiter: ReturnType<typeof rateLimit>['limiter']) => void, options = {}) {
  return ({ limit }: Setting): RequestHandler => {
    const middleware = rateLimit({ limit, window: '24h', name: `limiter-${made++}`, ...options })
    observe(middleware.limiter)
    return middleware
  }
}

type Observed = ReturnType<typeof rateLimit>['limiter']

const showLimiter = (limiter: Observed) => dashboard({ limiters: [limiter], authorize: () => true })

/** Serves the dashboard of a limiter, and reads its stream as an open page does. */
function openPage(limiter: Observed): void {
  const server = createServer(showLimiter(limiter)).listen(0, '127.0.0.1', async () => {
    const { port } = server.address() as AddressInfo
    const { body } = await fetch(`http://127.0.0.1:${port}/stream`)
    for await (const _frame of body ?? []);
  })
}

let seen = 0
const count = () => void seen++

/** Makers of middleware by what listens to it. */
export const LIVE_LISTENERS = {
  'no listener': observed(() => {}),
  'events decision and nearLimit': observed(({ events }) =>
    events.on('decision', count).on('nearLimit', count),
  ),
  'channel headgate:decision': observed(() => subscribe('headgate:decision', count)),
  prometheusMetrics: observed(() => prometheusMetrics(client)),
  openTelemetryMetrics: observed(() => openTelemetryMetrics(new MeterProvider().getMeter('bench'))),
  'a dashboard': observed(showLimiter),
  'a dashboard with an open page': observed(openPage),
  'a candidate': observed(() => {}, { candidate: candidateLimits({ limit: 1000, window: '1m' }) }),
} as const satisfies Readonly<Record<string, (setting: Setting) => RequestHandler>>

/** Makers of middleware by name. Each limits every client to `limit` in 24 hours. */
export const LIVE_LIMITERS = {
  nothing: () => (_req: Request, _res: Response, next: () => void) => next(),
  'headgate, legacy': headgate('legacy'),
  'headgate, draft': headgate('draft'),
  'headgate, both': headgate('both'),
  'headgate, none': headgate('none'),
  'express-rate-limit, legacy': expressRateLimit('legacy'),
  'express-rate-limit, draft': expressRateLimit('draft'),
  'express-rate-limit, both': expressRateLimit('both'),
  'express-rate-limit, none': expressRateLimit('none'),
  'headgate/express-rate-limit, legacy': expressRateLimit('legacy', adaptedRateLimit),
  'headgate/express-rate-limit, both': expressRateLimit('both', adaptedRateLimit),
  'rate-limiter-flexible, legacy': rateLimiterFlexible,
  'a Map by hand, legacy': byHand,
} as const satisfies Readonly<Record<string, (setting: Setting) => RequestHandler>>

export type LiveLimiterName =
  | keyof typeof LIVE_LIMITERS
  | keyof typeof LIVE_REDIS_LIMITERS
  | keyof typeof LIVE_LISTENERS
