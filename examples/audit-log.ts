/**
 * Rejected logins in an audit table of PostgreSQL, without a write for each: an attack must not become a load on the database.
 *
 *     DATABASE_URL=postgres://user:password@127.0.0.1:5432/name npx tsx examples/audit-log.ts
 *
 * PORT chooses a port other than 3000. AUDIT_SECRET keeps the hashes of account names alike over restarts, and in all processes.
 */
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express, { type Express, type Request, type Response } from 'express'
import { byIp, loginGuard } from 'headgate'
import { Pool } from 'pg'
import { type AuditRows, auditRows } from './audit-log/rows.js'

const SECRET = process.env.AUDIT_SECRET || randomUUID()

/** A login to which nobody has the password: login.ts has a whole one. Here it is about what becomes of rejected attempts. */
export function auditedApp(audit: Pick<AuditRows, 'count'>): Express {
  const addressOf = byIp() // as the guard has it: IPv6 addresses of one network are one

  const guard = loginGuard<Request, Response>({
    field: 'username',
    secret: SECRET,
    async onLimited(req, res) {
      // The name's hash, as security events have it too: the names of people who mistype hold passwords at times.
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

/** One connection is enough for a statement a second. One that hangs is given up, and the statement sent again. */
export function auditPool(url: string): Pool {
  const pool = new Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: 2000,
    query_timeout: 2000,
  })
  pool.on('error', () => undefined) // an idle connection was lost: the next write tells
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
    console.log(`Guess at an account, and look at the table login_rejections a second later:

  curl -s -o /dev/null -w '%{http_code}\\n' -d 'username=ada&password=guess' '${url}/login?[1-100]'

Ctrl-C stops it.`)
  })

  function stop(): void {
    server.close(async () => {
      await audit.close() // nothing that was counted is lost
      await pool.end()
    })
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

if (process.argv[1] === import.meta.filename) main()
