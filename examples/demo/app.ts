import { join } from 'node:path'
import express, { type Express } from 'express'
import { rateLimit, type Store } from 'headgate'
import { readSnippets } from './code.js'
import { serveLogin } from './login.js'
import { serveOutage } from './outage.js'
import { serveTraffic } from './traffic.js'

/** Creates the demo: a page, and the routes that it sends its requests to, all on one store. */
export function demoApp(store: Store): Express {
  const app = express()
  app.disable('x-powered-by').disable('etag')

  // For curl. One line protects a route; clients are identified by address unless you pass `key`.
  app.get('/api/time', rateLimit({ limit: 20, window: '20s', name: 'api', store }), (_req, res) => {
    res.json({ time: new Date() })
  })

  serveTraffic(app, store)
  serveLogin(app, store)
  serveOutage(app, store)
  app.get('/code', async (_req, res) => {
    res.json(await readSnippets())
  })
  app.use(express.static(join(import.meta.dirname, 'page')))
  return app
}
