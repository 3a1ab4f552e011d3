import { join } from 'node:path'
import express, { type Express, type Request, type Response } from 'express'
import {
  byField,
  byIp,
  consecutive,
  type Decision,
  fixedWindow,
  type Next,
  rateLimit,
  type Store,
  slidingWindow,
  tokenBucket,
} from 'headgate'

/** The demo: two API routes, a login and a playground, all on one store, and a page to watch them on. */
export function demoApp(store: Store): Express {
  const app = express()
  app.disable('x-powered-by')
  serveApi(app, store)
  serveLogin(app, store)
  servePlayground(app, store)
  app.use(express.static(join(import.meta.dirname, 'page')))
  return app
}

/** One line protects a route. Clients are identified by address unless you pass `key`. */
function serveApi(app: Express, store: Store): void {
  const api = { store, name: 'api', limit: 20, window: '20s' }

  app.get('/api/time', rateLimit(api), (_req, res) => {
    res.json({ time: new Date() })
  })

  // Limiters with the same name share one quota. A report takes five units.
  app.get('/api/report', rateLimit({ ...api, cost: 5 }), (_req, res) => {
    res.json({ report: 'All gates are in order.' })
  })
}

/** Two limits, decided together: one against guesses at many names, one against many guesses at one. */
function serveLogin(app: Express, store: Store): void {
  const guesses = rateLimit({
    store,
    name: 'login',
    limits: [
      { name: 'ip', policy: slidingWindow({ limit: 10, window: '1m' }), key: byIp() },
      { name: 'account', policy: slidingWindow({ limit: 3, window: '20s' }), key: byField('username') },
    ],
    count: 'failed', // charged before the password is checked, refunded if it is right
    headers: 'draft',
  })

  app.post('/login', express.urlencoded(), guesses, (req, res) => {
    const { username, password } = req.body ?? {}
    if (username === 'ada' && password === 'analytical') res.json({ message: 'Welcome, Ada.' })
    else res.status(401).json({ message: 'Wrong user name or password.' })
  })
}

/** Small enough to exhaust within a second, and to be full again soon after. */
const PRESETS = {
  'token-bucket': tokenBucket({ capacity: 10, refill: 10, every: '10s' }),
  'sliding-window': slidingWindow({ limit: 10, window: '10s' }),
  'fixed-window': fixedWindow({ limit: 10, window: '10s' }),
  consecutive: consecutive({ limit: 10 }),
}

/** One route per policy. It responds with the decision itself, which the page draws. */
function servePlayground(app: Express, store: Store): void {
  for (const [name, policy] of Object.entries(PRESETS)) {
    const play = rateLimit({ store, name, policy, headers: 'both', onLimited: sendDecision })
    const { limiter } = play

    app.get(`/play/${name}`, play, (req, res) => {
      res.json(req.rateLimit)
    })

    // A peek takes nothing. Forgetting clears a client's state.
    app.get(`/play/${name}/quota`, async (req, res) => {
      res.json(await limiter.peek(req))
    })
    app.delete(`/play/${name}/quota`, async (req, res) => {
      await limiter.forget(req)
      res.json(await limiter.peek(req))
    })
  }
}

function sendDecision(_req: Request, res: Response, _next: Next, decision: Decision): void {
  res.status(429).json(decision)
}
