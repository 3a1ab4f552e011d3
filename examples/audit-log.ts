/**
 * Logs denied logins to an audit table in PostgreSQL. Rows are summed up and written once a second, so an
 * attack does not become a load on the database.
 *
 *     DATABASE_URL=postgres://user:password@127.0.0.1:5432/name npx tsx examples/audit-log.ts
 *
 * PORT sets a port other than 3000. Set AUDIT_SECRET to hash account names alike after restarts and in all
 * processes.
 */
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { byIp, loginGuard } from 'headgate'
import { Pool } from 'pg'
import { type AuditRows, auditRows } from './audit-log/rows.js'

const SECRET = process.env.AUDIT_SECRET || randomUUID()

/** Creates a login that rejects every password, to show the log. See login.ts for a complete login. */
export function auditedApp(audit: Pick<AuditRows, 'count'>): Express {
  const addressOf = byIp() // as in the guard: IPv6 counts by network

  const guard = loginGuard({
    field: 'username',
    secret: SECRET,
    async onDenied(req, res) {
      // The hash of the name, as in security events: users sometimes type a password into the name field.
      audit.count(String(addressOf(req)), (await guard.accountId(req)) ?? 'none')
      res.status(429).type('text').send('Too many attempts. Try again later.\n')
    },
  })

  const app = express().disable('x-powered-by')
  app.post('/login', express.urlencoded(), guard, (_req, res) => {
    res.status(401).type('text').send('Wrong user name or password.\n')
  })
  return app
}

/** Creates a pool of one connection: enough for a statement a second. One that hangs is sent again. */
export function auditPool(url: string): Pool {
  const pool = new Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: 2000,
    query_timeout: 2000,
  })
  pool.on('error', () => undefined) // an idle connection was lost: the next write reports it
  return pool
}

function main(): void {
  const { DATABASE_URL, PORT } = process.env
  if (!DATABASE_URL) throw new Error('Set DATABASE_URL to a PostgreSQL database, such as postgres://…')
  const pool = auditPool(DATABASE_URL)
  const audit = auditRows(pool)

  const server = auditedApp(audit).listen(Number(PORT || 3000), '127.0.0.1', (error?: Error) => {
    if (error) throw error
    const url = `http://localhost:${(server.address() as AddressInfo).port}`
    console.log(`Guess passwords, then look at the table login_rejections a second later:

  curl -s -o /dev/null -w '%{http_code}\\n' -d 'username=ada&password=guess' '${url}/login?[1-100]'

Ctrl-C stops it.`)
  })

  function stop(): void {
    server.close(async () => {
      await audit.close() // writes what has been counted
      await pool.end()
    })
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

if (process.argv[1] === import.meta.filename) main()
