import type { SqlStore } from 'headgate/postgres'
import type { State } from 'headgate/store'
import type { SqlOptions, SqlServer } from '../../support/servers/databases.js'

export type Row = Record<string, unknown>

/** What a test says about a pool. */
export interface PoolOptions {
  /** The most connections. Default 10. */
  readonly size?: number
  /** What is set on each connection, such as `sql_mode=''` or `timezone=UTC`. */
  readonly settings?: readonly string[]
  /** More options of the driver. */
  readonly driver?: object
}

/** One connection, which a test has for itself. */
export interface Session {
  /** Runs one statement and returns the rows, where it has some. */
  run(sql: string): Promise<Row[]>
  /** Gives it back to its pool. */
  release(): void
}

/** A pool as a user has it, and what a test does with it. */
export interface UserPool {
  makeStore(options?: { table?: string }): SqlStore
  /** Removes expired rows of a table, up to `limit`, and returns how many. */
  removeExpired(table: string, limit: number): Promise<number>
  run(sql: string): Promise<Row[]>
  /** Takes a connection out of the pool. */
  take(): Promise<Session>
  /** Ends it, after closing the stores over it, or those that are named. May be called again. */
  end(options?: { closing?: readonly SqlStore[] }): Promise<void>
}

/** A kind of database, with the driver for it. */
export interface Kind {
  readonly name: 'mysql' | 'postgres'
  /** A name, quoted for SQL. */
  quote(name: string): string
  /** A state as an SQL literal. */
  literal(state: State): string
  start(options?: SqlOptions): Promise<SqlServer>
  /** Options of a server whose commits do not wait for the disk. If it is killed, the last ones are lost. */
  readonly unflushed: readonly string[]
  open(url: string, options?: PoolOptions): UserPool
}
