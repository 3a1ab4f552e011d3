import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { type SqlStore, sqliteStore } from 'headgate/sqlite'
import type { SqliteStoreOptions } from '../../../src/stores/sql/sqlite/sqlite-store.js'

/** Returns the path of a file that does not exist; its folder is removed after the test. */
export function newFile(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-sqlite-'))
  test.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'limits.db')
}

/** Opens a file with a store, both of which are closed after the test. */
export async function openStore(
  test: TestContext,
  path: string,
  options?: SqliteStoreOptions,
): Promise<{ readonly database: DatabaseSync; readonly store: SqlStore }> {
  const database = new DatabaseSync(path)
  const store = sqliteStore(database, options)
  test.after(async () => {
    await store.close()
    if (database.isOpen) database.close()
  })
  await store.prepare()
  return { database, store }
}
