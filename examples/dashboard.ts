/**
 * Serves an API and a dashboard of its limiters at /limits, and sends it some traffic to look at.
 *
 *     npx tsx examples/dashboard.ts
 *
 * PORT sets a port other than 3000, PASSWORD sets the password; TRAFFIC=off sends no traffic.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express, { type Express, type Request, type Response } from 'express'
import {
  ban,
  byHeader,
  candidateLimits,
  createLimiter,
  fixedWindow,
  rateLimit,
  slidingWindow,
} from 'headgate'
import { type Dashboard, dashboard } from 'headgate/dashboard'

/** Creates an API of 20 requests in 10 seconds for each key, and a login; `password` opens the dashboard. */
export function dashboardApp(password: string): { app: Express; page: Dashboard<Request, Response> } {
  const api = rateLimit({
    name: 'api',
    limit: 20,
    window: '10s',
    key: byHeader('x-api-key'),
    candidate: candidateLimits({ policy: fixedWindow({ limit: 15, window: '10s' }) }),
  })
  const login = createLimiter<string>({
    name: 'login',
    key: (account) => account,
    policy: ban(slidingWindow({ limit: 5, window: '1m' }), { after: 3, within: '5m', for: ['1m', '1h'] }),
  })

  const app = express().disable('x-powered-by')
  const limiters = [api.limiter, login]
  const page = dashboard({ limiters, authorize: basicAuth(password), operator: () => 'admin' })
  app.use('/limits', page)
  app.get('/', api, (_req, res) => {
    res.type('text').send('hello\n')
  })
  app.post('/login/:account', async (req, res) => {
    const { allowed } = await login.charge(req.params.account)
    res.sendStatus(allowed ? 401 : 429)
  })
  return { app, page }
}

/** Asks for a password. Your application has a session instead: `(req) => req.user?.isAdmin === true`. */
function basicAuth(password: string) {
  const expected = Buffer.from(`Basic ${Buffer.from(`admin:${password}`).toString('base64')}`)
  return ({ headers }: Request, res: Response): boolean => {
    const given = Buffer.from(headers.authorization ?? '')
    if (given.length === expected.length && timingSafeEqual(given, expected)) return true
    res.set('WWW-Authenticate', 'Basic realm="limits"').sendStatus(401)
    return false
  }
}

/** Sends requests of five clients, the higher its number the more, and guesses at two accounts. */
function sendTraffic(url: string): void {
  const send = (path: string, init: RequestInit) => {
    fetch(url + path, init)
      .then((response) => response.body?.cancel())
      .catch(() => {}) // the server is closing
  }
  for (let i = 1; i <= 5; i++)
    setInterval(() => send('/', { headers: { 'x-api-key': `client-${i}` } }), 1500 / i).unref()
  for (const account of ['ada', 'grace'])
    setInterval(() => send(`/login/${account}`, { method: 'POST' }), 5000).unref()
}

function main(): void {
  const password = process.env.PASSWORD ?? randomBytes(9).toString('base64url')
  const { app, page } = dashboardApp(password)
  const server = app.listen(Number(process.env.PORT ?? 3000), () => {
    const url = `http://localhost:${(server.address() as AddressInfo).port}`
    console.log(`Dashboard at ${url}/limits, user admin, password ${password}. Ctrl-C stops it.`)
    if (process.env.TRAFFIC !== 'off') sendTraffic(url)
  })
  const stop = () => {
    void page.close() // tells other processes that this one has not crashed
    server.close()
    server.closeAllConnections() // a browser may keep some
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

if (process.argv[1] === import.meta.filename) main()
