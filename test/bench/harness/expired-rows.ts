import assert from 'node:assert/strict'
import type { SqlServer } from '../../support/servers/databases.js'

const CHUNK = 250_000
const STEPS = 20

/** The table `headgate` of a server, and the expired rows in it. */
export interface ExpiredRows {
  /** Adds rows whose keys are in another order than their expiries, which fill a day's minutes. */
  fill(): Promise<void>
  /** How many have been removed, by the server's counters, which may be a second behind. */
  removed(): Promise<number>
  /** How many are left. Reads all of the table. */
  left(): Promise<number>
}

export const EXPIRED_ROWS = CHUNK * STEPS

/** The rows are of fixed windows, whose states have four numbers. */
const KEY = 'hg:3:api:fw:'

export function expiredInMariadb(server: SqlServer): ExpiredRows {
  const key = (from: number) => `CONCAT('${KEY}{', LPAD(HEX(${from} + seq), 8, '0'), '}')`
  const expiry = (from: number) => `UNIX_TIMESTAMP() - 60 * (1 + CRC32(${from} + seq) % 1440)`
  const columns = (from: number) => `${key(from)}, REPEAT('\\0', 32), ${expiry(from)}`
  return {
    async fill() {
      for (let i = 0; i < STEPS; i++) {
        await server.query(`INSERT INTO headgate SELECT ${columns(i * CHUNK)} FROM seq_1_to_${CHUNK}`)
      }
      await server.query('ANALYZE TABLE headgate')
    },
    async removed() {
      const [row] = await server.query("SHOW GLOBAL STATUS LIKE 'Handler_delete'")
      return numberIn(row?.Value)
    },
    left: () =>
      countOf(server, 'SELECT count(*) AS rows_left FROM headgate WHERE expires_at < UNIX_TIMESTAMP()'),
  }
}

export function expiredInPostgres(server: SqlServer): ExpiredRows {
  const key = `convert_to('${KEY}{' || lpad(to_hex(i), 8, '0') || '}', 'UTF8')`
  const now = "date_part('epoch', now())::bigint"
  const columns = `${key}, '{0,0,0,0}', ${now} - 60 * (1 + abs(hashint4(i)::bigint) % 1440)`
  return {
    async fill() {
      for (let i = 0; i < STEPS; i++) {
        const numbers = `generate_series(${i * CHUNK + 1}, ${(i + 1) * CHUNK}) i`
        await server.query(`INSERT INTO headgate SELECT ${columns} FROM ${numbers}`)
      }
      await server.query('VACUUM (ANALYZE) headgate')
      await server.query('CHECKPOINT')
    },
    async removed() {
      const [row] = await server.query("SELECT n_tup_del FROM pg_stat_user_tables WHERE relname = 'headgate'")
      return numberIn(row?.n_tup_del)
    },
    left: () => countOf(server, `SELECT count(*) AS rows_left FROM headgate WHERE expires_at < ${now}`),
  }
}

async function countOf(server: SqlServer, sql: string): Promise<number> {
  const [row] = await server.query(sql)
  return numberIn(row?.rows_left)
}

function numberIn(value: unknown): number {
  const number = Number(value)
  assert.ok(Number.isInteger(number), `The server counts ${value}.`)
  return number
}
