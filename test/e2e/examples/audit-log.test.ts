import { Agent } from 'node:http'
import { type AuditRows, auditRows } from '../../../examples/audit-log/rows.js'
import { auditedApp, auditPool } from '../../../examples/audit-log.js'
import type { SqlServer } from '../../support/servers/databases.js'
import { startPostgres } from '../../support/servers/postgres.js'
import { until } from '../../support/servers/wait.js'
import { ask, startExample } from './start-example.js'

let server: SqlServer
const cleanups: (() => unknown)[] = []

beforeAll(async () => {
  server = await startPostgres({ own: true })
}, 600_000) // where PostgreSQL has to be installed first

afterAll(() => server?.stop())

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  await server.query('DROP TABLE IF EXISTS login_rejections')
})

/** The rows over the real server, and an app that counts into them. */
async function startAudited(options = {}) {
  const pool = auditPool(server.url)
  const audit = auditRows(pool, options)
  cleanups.push(async () => {
    await audit.close()
    await pool.end()
  })
  const http = auditedApp(audit).listen(0, '127.0.0.1')
  cleanups.push(() => new Promise((resolve) => http.close(resolve)))
  await new Promise((resolve) => http.once('listening', resolve))
  const { port } = http.address() as { port: number }
  return { audit, url: `http://127.0.0.1:${port}` }
}

/**
 * Guesses until so many or a few more were rejected, from four addresses at eight accounts; counts them by
 * address.
 */
async function guess(url: string, rejections: number): Promise<Record<string, number>> {
  const rejected: Record<string, number> = {}
  let left = rejections
  async function visit(from: string): Promise<void> {
    const agent = new Agent({ keepAlive: true })
    for (let i = 0; left > 0; i++) {
      const form = `username=name-${i % 8}&password=x`
      const { status } = await ask(`${url}/login`, { form, from, agent })
      if (status !== 429) continue
      rejected[from] = (rejected[from] ?? 0) + 1
      left--
    }
    agent.destroy()
  }
  await Promise.all([1, 2, 3, 4].map((n) => visit(`127.0.2.${n}`)))
  return rejected
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)

interface Totals {
  rows: number
  batches: number
  rejections: number
  byAddress: Record<string, number>
}

async function totals(): Promise<Totals> {
  const [sums] = await server.query(
    `SELECT count(*)::int AS rows, count(DISTINCT batch)::int AS batches, coalesce(sum(rejections), 0)::int AS rejections
     FROM login_rejections`,
  )
  const addresses = await server.query(
    'SELECT address, sum(rejections)::int AS rejections FROM login_rejections GROUP BY address',
  )
  const byAddress = Object.fromEntries(addresses.map(({ address, rejections }) => [address, rejections]))
  return { ...sums, byAddress } as unknown as Totals
}

const untilWritten = (audit: AuditRows) => until('all rejections are written', () => audit.waiting === 0)

/** Records what console.error prints from now on. */
function recordErrors(): string[] {
  const errors: string[] = []
  const spy = jest.spyOn(console, 'error').mockImplementation((line) => errors.push(String(line)))
  cleanups.push(() => spy.mockRestore())
  return errors
}

test('the audit log writes a thousand rejections as few rows, with exact sums', async () => {
  const { audit, url } = await startAudited()
  const startedMs = performance.now()
  const byAddress = await guess(url, 1000)
  await untilWritten(audit)
  const { rows, batches, ...sums } = await totals()
  expect(sum(byAddress)).toBeGreaterThanOrEqual(1000)
  expect(sums).toEqual({ rejections: sum(byAddress), byAddress })
  expect(batches).toBeLessThanOrEqual(Math.ceil((performance.now() - startedMs) / 1000))
  expect(rows).toBeLessThanOrEqual(batches * 32)
  const [row] = await server.query('SELECT account, last_at >= first_at AS is_after FROM login_rejections')
  expect(row).toEqual({ account: expect.stringMatching(/^[\w-]{22}$/), is_after: true })
})

test('logins are answered while the database is down, and rejections are written once it is back', async () => {
  const errors = recordErrors()
  const { audit, url } = await startAudited({ everyMs: 50 })
  let rejected = sum(await guess(url, 50))
  await untilWritten(audit)
  await server.kill()
  rejected += sum(await guess(url, 100))
  await until('the outage is printed', () => errors.length > 0)
  rejected += sum(await guess(url, 50))
  expect(audit.waiting).toBeLessThanOrEqual(64)
  await server.restart()
  await untilWritten(audit)
  expect((await totals()).rejections).toBe(rejected)
  expect(errors).toEqual([
    expect.stringMatching(/^audit log: the database is unavailable \(.+\)\.$/),
    'audit log: the database is available again.',
  ])
})

test('the audit log counts nothing twice if a statement arrives although it timed out', async () => {
  const errors = recordErrors()
  const { audit } = await startAudited({ everyMs: 50 })
  audit.count('127.0.2.1', 'first')
  await untilWritten(audit)
  const locker = auditPool(server.url)
  cleanups.push(() => locker.end())
  const holding = await locker.connect()
  await holding.query('BEGIN; LOCK TABLE login_rejections')
  audit.count('127.0.2.1', 'second')
  await until('the statement is given up', () => errors.length > 0)
  await holding.query('COMMIT')
  holding.release()
  await untilWritten(audit)
  audit.count('127.0.2.1', 'third')
  await untilWritten(audit)
  expect(await totals()).toMatchObject({ rows: 3, rejections: 3 })
})

test('the audit log holds a bounded number of rows, however many names are made up, and an exact sum', async () => {
  const { audit } = await startAudited({ maxRows: 100, everyMs: 50 })
  for (let i = 0; i < 5000; i++) audit.count('127.0.2.1', `name-${i}`)
  expect(audit.waiting).toBe(101)
  await untilWritten(audit)
  expect((await totals()).byAddress).toEqual({ '127.0.2.1': 100, others: 4900 })
})

test('the audit log prints the rows that it can no longer write', async () => {
  const errors = recordErrors()
  const pool = auditPool('postgres://nobody@127.0.0.1:1/none')
  const audit = auditRows(pool)
  for (let i = 0; i < 3; i++) audit.count('127.0.2.1', 'name')
  await audit.close()
  await pool.end()
  const row = JSON.parse(errors.at(-1) ?? '')
  expect(row).toMatchObject({ address: '127.0.2.1', account: 'name', rejections: 3 })
})

test('the example loses no rejection when it is stopped', async () => {
  const example = await startExample('examples/audit-log.ts', { DATABASE_URL: server.url })
  const rejected = sum(await guess(example.url, 40))
  expect(await example.stop()).toBe(0)
  expect(example.printed.err).toBe('')
  expect((await totals()).rejections).toBe(rejected)
})
