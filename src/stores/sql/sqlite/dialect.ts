import type { State } from '../../../policies/policy.js'
import { decodeState, encodeState } from '../../shared/state-bytes.js'
import type { Dialect } from '../dialect.js'
import { isTemporary } from '../errors.js'
import type { SqliteDatabase } from './client.js'
import { sqliteDocuments } from './documents.js'
import { quoteName, sqliteSchema } from './schema.js'

/** Some megabytes of log. */
const WRITES_PER_CHECKPOINT = 1000
/** Between two attempts, where other processes use the log. */
const WRITES_PER_ATTEMPT = 100

/**
 * Creates the dialect of SQLite. Its transactions run in one synchronous step of this process. While another
 * process has the file locked they fail at once, and are retried, so that nothing blocks the event loop.
 */
export function sqliteDialect(
  database: SqliteDatabase,
  names: readonly string[],
  clock: () => number,
): Dialect<SqliteDatabase, Statements> {
  const table = quoteName(names)
  const [, schema = 'main'] = names.toReversed()
  const pragma = `PRAGMA ${quoteName([schema])}.`
  let statements: Statements | undefined
  /** How many rows may still be written before the next checkpoint. */
  let beforeCheckpoint = WRITES_PER_CHECKPOINT

  /** Runs `step` while no other process can write to the file. Nothing was written if it throws. */
  function inTransaction<T>(step: (using: Statements) => T): T {
    let hasBegun = false
    try {
      database.exec('BEGIN IMMEDIATE')
      hasBegun = true
      statements ??= prepareStatements(database, table)
      const result = step(statements)
      database.exec('COMMIT')
      return result
    } catch (error) {
      if (hasBegun) rollBack(database) // and leaves a transaction of the application alone
      if (hasBegun || !isTemporary(error)) statements = undefined // a database that was closed has lost them
      throw error
    }
  }

  /**
   * Empties the write-ahead log now and then. SQLite's own checkpoints do not wait for other processes, so
   * the log grows for as long as one of them is always writing. Where it fails, so will the next charge.
   */
  function checkpointIfDue(): void {
    if (beforeCheckpoint > 0) return
    beforeCheckpoint = WRITES_PER_CHECKPOINT
    try {
      const reply = database.prepare(`${pragma}wal_checkpoint(TRUNCATE)`).get()
      const [isBusy] = Object.values(reply ?? {})
      if (Number(isBusy) !== 0) beforeCheckpoint = WRITES_PER_ATTEMPT
    } catch {
      // What keeps the log from being emptied keeps rows from being written, and that is reported.
    }
  }

  return {
    name: 'sqlite',
    table,
    acquire: async () => database,
    release() {},
    destroy() {},
    async rollback() {}, // a transaction has ended when it throws
    async transact(_database, run) {
      const result = inTransaction(run)
      checkpointIfDue()
      return result
    },
    lock({ select }, keys) {
      const states = new Map<string, State | undefined>()
      for (const key of keys) {
        const row = select.get(key)
        if (row !== undefined) states.set(key, stateIn(row))
      }
      return { states, nowMs: clock() }
    },
    write({ write, remove }, { updated, inserted, deleted }) {
      const rows = [...updated, ...inserted]
      for (const { key, state, expiresAtS } of rows) write.run(key, encodeState(state), expiresAtS)
      for (const key of deleted) remove.run(key)
      beforeCheckpoint -= rows.length + deleted.length
    },
    documents: sqliteDocuments(names),
    async removeExpired(_database, limit) {
      return inTransaction(({ purge }) => Number(purge.run(Math.floor(clock() / 1000), limit).changes))
    },
    async prepare() {
      database.exec(`${pragma}journal_mode = WAL`)
      database.exec(`${pragma}synchronous = NORMAL`)
      database.exec(sqliteSchema({ table: names.join('.') }))
      inTransaction(({ purge }) => purge.run(0, 0)) // throws if the store cannot write to this table
    },
  }
}

type Statements = ReturnType<typeof prepareStatements>

function prepareStatements(database: SqliteDatabase, table: string) {
  return {
    select: database.prepare(`SELECT state FROM ${table} WHERE key = ?`),
    write: database.prepare(
      `INSERT INTO ${table} (key, state, expires_at) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET state = excluded.state, expires_at = max(expires_at, excluded.expires_at)`,
    ),
    remove: database.prepare(`DELETE FROM ${table} WHERE key = ?`),
    purge: database.prepare(
      `DELETE FROM ${table} WHERE key IN (SELECT key FROM ${table} WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
    ),
  }
}

/** Returns the state in a row: an object or, as the database's options say, an array. */
function stateIn(row: unknown): State | undefined {
  const [bytes] = Object.values(row ?? {})
  return bytes instanceof Uint8Array ? decodeState(Buffer.from(bytes)) : undefined
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // After some errors, such as a full disk, SQLite itself has rolled back.
  }
}
