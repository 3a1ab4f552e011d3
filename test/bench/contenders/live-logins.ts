import express, { type Express, type RequestHandler } from 'express'
import { ban, type LoginGuard, loginGuard, memoryStore, type Store, slidingWindow } from 'headgate'
import { redisStore } from 'headgate/redis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { connect } from './live-limiters.js'

/** Units that are never used up. */
export const MANY = 1_000_000
const ACCOUNTS = 1_000

const endless = ban(slidingWindow({ limit: MANY, window: '1h' }), {
  after: 50,
  within: '1h',
  for: ['1h', '1d'],
})

interface GuardOptions {
  readonly name?: string
  readonly deviceCookie?: { readonly secret: string }
  readonly store?: Store
  readonly timeout?: number
}

/** Creates a guard that never denies. */
export function endlessGuard(options: GuardOptions): LoginGuard {
  return loginGuard({
    field: 'username',
    path: ['/', '/login'], // of the benchmarks' requests
    store: memoryStore(),
    limits: {
      address: endless,
      account: slidingWindow({ limit: 4 * MANY, window: '30m' }), // above what two addresses may use
      accountAndAddress: endless,
    },
    consecutive: MANY,
    ...options,
  })
}

/** The guard in memory, or on a Redis that has time to decide. */
const guard =
  (options: GuardOptions = {}) =>
  (redisUrl?: string): RequestHandler => {
    if (redisUrl === undefined) return endlessGuard(options)
    const store = redisStore(connect(redisUrl))
    const guarded = endlessGuard({ name: 'login', ...options, store, timeout: 30_000 })
    guarded.limiter.events.on('storeError', (error) => {
      setImmediate(() => {
        throw error // nothing else decides
      })
    })
    return guarded
  }

/**
 * Two counters, read before and charged after a failure, or deleted after a success: the order that the
 * documentation of rate-limiter-flexible teaches.
 */
function twoCounters(redisUrl?: string): RequestHandler {
  const storeClient = redisUrl === undefined ? undefined : connect(redisUrl)
  const counter = (duration: number, keyPrefix: string) => {
    const options = { points: MANY, duration, keyPrefix }
    return storeClient === undefined
      ? new RateLimiterMemory(options)
      : new RateLimiterRedis({ ...options, storeClient })
  }
  const byAddress = counter(3600, 'address')
  const byBoth = counter(900, 'both')
  return async (req, res, next) => {
    const ip = req.ip as string
    const key = `${req.body.username}_${ip}`
    const [both, address] = await Promise.all([byBoth.get(key), byAddress.get(ip)])
    if ((both?.consumedPoints ?? 0) > MANY || (address?.consumedPoints ?? 0) > MANY) {
      res.sendStatus(429)
      return
    }
    res.once('finish', () => {
      if (res.statusCode >= 400) Promise.all([byAddress.consume(ip), byBoth.consume(key)])
      else if (both !== null && both.consumedPoints > 0) byBoth.delete(key)
    })
    next()
  }
}

/** Makers of guards by name. None of them ever denies. */
export const LIVE_LOGINS = {
  'no guard': () => (_req, _res, next) => next(),
  headgate: guard(),
  'headgate, device cookies': guard({
    name: 'login',
    deviceCookie: { secret: 'only for this benchmark' },
  }),
  'rate-limiter-flexible, two counters': twoCounters,
} as const satisfies Readonly<Record<string, (redisUrl?: string) => RequestHandler>>

export type LiveLoginName = keyof typeof LIVE_LOGINS

/** Creates the application of a contender: a login form behind its guard. */
export function loginApp(contender: LiveLoginName, redisUrl?: string): Express {
  const app = express()
  app.set('trust proxy', 1)
  return app.post('/login', express.urlencoded(), LIVE_LOGINS[contender](redisUrl), (req, res) => {
    res.sendStatus(req.body.password === 'right' ? 200 : 401)
  })
}

/** How attempts end, and whether the browser is one that has logged in before. */
export type LoginScenario = 'failure' | 'success' | 'success of a known browser'

/** Returns the attempts of a scenario, each at another account; a known browser logs in once before. */
export async function loginRequests(scenario: LoginScenario, port: number): Promise<readonly string[]> {
  const password = scenario === 'failure' ? 'wrong' : 'right'
  const requests: string[] = []
  for (let i = 0; i < ACCOUNTS; i++) {
    const body = `username=user-${i}&password=${password}`
    const address = `203.0.${i >> 8}.${i & 255}`
    const cookie = scenario.endsWith('known browser') ? await cookieOf(port, body, address) : ''
    requests.push(
      `POST /login HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${address}\r\n${cookie}` +
        `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
  }
  return requests
}

async function cookieOf(port: number, body: string, address: string): Promise<string> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': address }
  const { headers: received } = await fetch(`http://127.0.0.1:${port}/login`, {
    method: 'POST',
    headers,
    body,
  })
  const cookies = received.getSetCookie().map((cookie) => cookie.split(';', 1)[0])
  return cookies.length === 0 ? '' : `Cookie: ${cookies.join('; ')}\r\n`
}
