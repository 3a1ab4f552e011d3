import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'

/** An audit log of rejected attempts, summed up in memory and written at intervals. */
export interface AuditRows {
  /** The number of rows that are not written yet. */
  readonly waiting: number
  /** Counts a rejection. Never waits or throws, so a slow or unavailable database delays no request. */
  count(address: string, account: string): void
  /** Writes the remaining rows; if the database is unavailable, to stderr instead, one JSON line per row. */
  close(): Promise<void>
}

interface Row {
  readonly address: string
  readonly account: string
  readonly first_at: Date
  last_at: Date
  rejections: number
}

/** Rows that are written together, and written again unchanged if it is not known whether they arrived. */
interface Batch {
  readonly id: string
  readonly rows: readonly Row[]
}

const OTHERS = 'others'

const CREATE = `CREATE TABLE IF NOT EXISTS login_rejections (
  batch uuid NOT NULL, address text NOT NULL, account text NOT NULL,
  rejections bigint NOT NULL, first_at timestamptz NOT NULL, last_at timestamptz NOT NULL,
  PRIMARY KEY (batch, address, account))`

/** One statement for any number of rows. Ignores a batch that arrived before, so nothing counts twice. */
const INSERT = `INSERT INTO login_rejections (batch, address, account, rejections, first_at, last_at)
SELECT $1, row.* FROM json_to_recordset($2)
  AS row(address text, account text, rejections bigint, first_at timestamptz, last_at timestamptz)
ON CONFLICT DO NOTHING`

/**
 * Creates a log that sums rejections per address and account and writes the sums at most once per `everyMs`.
 * Pairs beyond `maxRows` share one row, `others`: a flood of invented names fills neither memory nor table,
 * and the total stays exact.
 */
export function auditRows(pool: Pool, { maxRows = 1000, everyMs = 1000 } = {}): AuditRows {
  let rows = new Map<string, Row>()
  let batch: Batch | undefined // in flight; at most one, so memory holds at most twice maxRows
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  let hasTable = false
  let isDown = false
  let isClosed = false

  function count(address: string, account: string): void {
    let key = `${address} ${account}`
    if (!rows.has(key) && rows.size >= maxRows) [key, address, account] = [OTHERS, OTHERS, OTHERS]
    const now = new Date()
    const row = rows.get(key) ?? { address, account, rejections: 0, first_at: now, last_at: now }
    row.rejections++
    row.last_at = now
    rows.set(key, row)
    timer ??= setTimeout(tick, everyMs)
  }

  function tick(): void {
    writing = write().then(() => {
      const isDone = isClosed || (rows.size === 0 && batch === undefined)
      timer = isDone ? undefined : setTimeout(tick, everyMs)
    })
  }

  /** Writes one batch: the one that failed before, or else the rows counted since. Never rejects. */
  async function write(): Promise<void> {
    if (batch === undefined) {
      batch = { id: randomUUID(), rows: [...rows.values()] }
      rows = new Map()
    }
    try {
      if (!hasTable) await pool.query(CREATE)
      hasTable = true
      await pool.query(INSERT, [batch.id, JSON.stringify(batch.rows)])
      batch = undefined
      if (isDown) console.error('audit log: the database is available again.')
      isDown = false
    } catch (error) {
      if (!isDown) console.error(`audit log: the database is unavailable (${(error as Error).message}).`)
      isDown = true
    }
  }

  return {
    get waiting() {
      return rows.size + (batch?.rows.length ?? 0)
    },
    count,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await writing
      if (batch !== undefined) await write()
      if (batch === undefined && rows.size > 0) await write()
      for (const row of [...(batch?.rows ?? []), ...rows.values()]) console.error(JSON.stringify(row))
    },
  }
}
