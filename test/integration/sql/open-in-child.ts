import type { SqlStore } from 'headgate/postgres'
import type { Kind, UserPool } from './database-kind.js'
import { DATABASES } from './set-up-database.js'

/** The arguments of a child process: the kind of database, its URL, and the table. */
export function childArgs({ name }: Kind, url: string, table: string): string[] {
  return [name, url, table]
}

/** A pool, and a store over it. */
export interface Opened {
  readonly pool: UserPool
  readonly store: SqlStore
}

/**
 * Opens a pool and a store by the arguments of this child process. The pool ends when the parent
 * disconnects.
 */
export function openInChild(): Opened {
  const [name, url = '', table = ''] = process.argv.slice(2)
  const [, kind] = DATABASES.find(([, { name: each }]) => each === name) ?? []
  if (kind === undefined) throw new Error(`There is no database ${name}.`)
  const pool = kind.open(url)
  process.once('disconnect', () => pool.end())
  return { pool, store: pool.makeStore({ table }) }
}
