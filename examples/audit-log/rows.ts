import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'

/** An audit log of rejected attempts, summed up in memory and written now and then. */
export interface AuditRows {
  /** How many rows wait to be written. */
  readonly waiting: number
  /** Counts a rejection. It neither waits nor throws, so a database that is slow or away holds up no request. */
  count(address: string, account: string): void
  /** Writes what is left. Where the database is away, that goes to the console's errors instead: one JSON line per row. */
  close(): Promise<void>
}

interface Row {
  readonly address: string
  readonly account: string
  readonly first_at: Date
  last_at: Date
  rejections: number
}

/** Rows that are written together, and again as they are while it is not known whether they arrived. */
interface Batch {
  readonly id: string
  readonly rows: readonly Row[]
}

const OTHERS = 'others'

const CREATE = `CREATE TABLE IF NOT EXISTS login_rejections (
  batch uuid NOT NULL, address text NOT NULL, account text NOT NULL,
  rejections bigint NOT NULL, first_at timestamptz NOT NULL, last_at timestamptz NOT NULL,
  PRIMARY KEY (batch, address, account))`

/** One statement, however many rows. A batch that did arrive before is left as it is, so nothing is counted twice. */
const INSERT = `INSERT INTO login_rejections (batch, address, account, rejections, first_at, last_at)
SELECT $1, row.* FROM json_to_recordset($2)
  AS row(address text, account text, rejections bigint, first_at timestamptz, last_at timestamptz)
ON CONFLICT DO NOTHING`

/**
 * Sums rejections up per address and account, and writes the sums at most once in `everyMs`. Of more than `maxRows` pairs the later
 * ones become one row, `others`: a flood of made-up names fills neither the memory nor the table, and the sum stays exact.
 */
export function auditRows(pool: Pool, { maxRows = 1000, everyMs = 1000 } = {}): AuditRows {
  let rows = new Map<string, Row>()
  let batch: Batch | undefined // on its way; at most one, so memory holds two times maxRows at the most
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  let hasTable = false
  let isAway = false
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

  /** Writes one batch: the one that failed before, or what has come together since. Never rejects. */
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
      if (isAway) console.error('audit log: the database answers again.')
      isAway = false
    } catch (error) {
      if (!isAway) console.error(`audit log: the database cannot be asked (${(error as Error).message}).`)
      isAway = true
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
