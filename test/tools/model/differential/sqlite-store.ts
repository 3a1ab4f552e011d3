import type { Store } from 'headgate'
import { sqliteStore } from 'headgate/sqlite'
import type { Lane } from './player.js'

/** The first Node.js that has node:sqlite. */
export const SQLITE_MAJOR = 22

/** Returns whether this process can open an SQLite file. */
export function hasSqlite(): boolean {
  return Number(process.versions.node.split('.')[0]) >= SQLITE_MAJOR
}

/** Opens a database in memory for each trace. */
export async function startSqlite(
  laneOf: (make: (clock: () => number) => Store) => Lane,
): Promise<{ openLane(): Promise<Lane>; stop(): Promise<void> }> {
  if (!hasSqlite()) throw new Error(`SQLite needs Node.js ${SQLITE_MAJOR} or newer.`)
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(':memory:')
  let nowMs: () => number = () => 0
  const store = sqliteStore(database, { clock: () => nowMs() })
  await store.prepare()
  return {
    openLane: async () =>
      laneOf((clock) => {
        nowMs = clock
        return store
      }),
    async stop() {
      await store.close()
      database.close()
    },
  }
}
