import express, { type Express, type RequestHandler } from 'express'
import { ban, loginGuard, memoryStore, slidingWindow } from 'headgate'
import { RateLimiterMemory } from 'rate-limiter-flexible'

/** Units that are never used up. */
export const MANY = 1_000_000
const ACCOUNTS = 1_000

const endless = ban(slidingWindow({ limit: MANY, window: '1h' }), {
  after: 50,
  within: '1h',
  for: ['1h', '1d'],
})

/** Creates a guard that never denies. */
export function endlessGuard(options: { name?: string; deviceCookie?: { secret: string } }): RequestHandler {
  return loginGuard({
    field: 'username',
    path: ['/', '/login'], // of the benchmarks' requests
    store: memoryStore(),
    limits: {
      address: endless,
      account: slidingWindow({ limit: MANY, window: '30m' }),
      accountAndAddress: endless,
    },
    consecutive: MANY,
    ...options,
  })
}

/**
 * Two counters, read before and charged after a failure, or deleted after a success: the order that the
 * documentation of rate-limiter-flexible teaches.
 */
function twoCounters(): RequestHandler {
  const byAddress = new RateLimiterMemory({ points: MANY, duration: 3600, keyPrefix: 'address' })
  const byBoth = new RateLimiterMemory({ points: MANY, duration: 900, keyPrefix: 'both' })
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
  headgate: () => endlessGuard({}),
  'headgate, device cookies': () =>
    endlessGuard({ name: 'login', deviceCookie: { secret: 'only for this benchmark' } }),
  'rate-limiter-flexible, two counters': twoCounters,
} as const satisfies Readonly<Record<string, () => RequestHandler>>

export type LiveLoginName = keyof typeof LIVE_LOGINS

/** Creates the application of a contender: a login form behind its guard. */
export function loginApp(contender: LiveLoginName): Express {
  const app = express()
  app.set('trust proxy', 1)
  return app.post('/login', express.urlencoded(), LIVE_LOGINS[contender](), (req, res) => {
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
