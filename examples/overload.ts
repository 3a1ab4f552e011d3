/**
 * An API with a slow database, a report and a login, protected from overload by headgate:
 *
 *     npx tsx examples/overload.ts
 *
 * PORT sets another port than 3000. `/status` shows what the guards have found.
 */
import type { AddressInfo } from 'node:net'
import express, { type Express, type Request } from 'express'
import { byIp, loginGuard, overloadGuard, rateLimit } from 'headgate'
import { CONNECTIONS, slowDatabase } from './overload/database.js'

/** Logins come first. Reports can be repeated later. */
function priorityOf({ path }: Request): 'critical' | 'default' | 'bulk' {
  if (path === '/login') return 'critical'
  return path.startsWith('/reports/') ? 'bulk' : 'default'
}

/** Creates the application. */
export function overloadApp(database = slowDatabase()): Express {
  const server = overloadGuard({ name: 'server', priority: priorityOf })
  // A separate guard lets fewer queries run while the database is slow. More queries than twice the number of
  // connections would only queue in the pool.
  const queries = overloadGuard({ name: 'database', maxLimit: 2 * CONNECTIONS })

  const app = express().disable('x-powered-by')

  app.get('/status', (_req, res) => {
    res.json({ server: server.status(), database: queries.status() })
  })

  // Before the guard: a client over its limit takes no place.
  app.use(rateLimit({ name: 'api', limit: 600, window: '1m', key: byIp() }))
  app.use(server)

  // A denied query rejects with an `OverloadError`, which Express turns into a 503.
  app.get('/products/:id', async (req, res) => {
    res.json(await queries.run(() => database.product(req.params.id)))
  })

  app.get('/reports/:month', async (req, res) => {
    const report = () => database.report(req.params.month)
    res.json(await queries.run(report, { priority: 'bulk', operation: 'report' }))
  })

  // After the guard, so that a login that is denied for lack of a place does not count as an attempt.
  app.post('/login', express.urlencoded(), loginGuard({ field: 'username' }), async (req, res) => {
    const find = () => database.hasPassword(req.body.username, req.body.password)
    res.sendStatus((await queries.run(find, { priority: 'critical' })) ? 204 : 401)
  })

  return app
}

function main(): void {
  const server = overloadApp().listen(Number(process.env.PORT || 3000), '127.0.0.1', (error?: Error) => {
    if (error) throw error
    console.log(`Open http://localhost:${(server.address() as AddressInfo).port}/products/1 or /status`)
  })
}

if (process.argv[1] === import.meta.filename) main()
