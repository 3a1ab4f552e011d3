import assert from 'node:assert/strict'
import type { SqlServer } from '../support/servers/databases.js'
import { startMariadb } from '../support/servers/mariadb.js'
import { startPostgres } from '../support/servers/postgres.js'
import { type Child, startChild } from './harness/child.js'
import {
  EXPIRED_ROWS,
  type ExpiredRows,
  expiredInMariadb,
  expiredInPostgres,
} from './harness/expired-rows.js'
import type { PurgeQuestion } from './sql-purge-child.js'
import { phaseOf } from './sql-purge-phase.js'
import { type Outcome, printRemoved, printWaits, SLICE_MS } from './sql-purge-tables.js'

const HEAP_MB = 200
const WARM_UP_SLICES = 5
const QUIET_SLICES = 15
/** A purge that takes longer is ended. */
const MOST_SLICES = 50

/**
 * With memory for the whole table: reading and writing pages would be most of the work otherwise. MariaDB
 * writes its log as all others do, not past the kernel's cache, where each commit would wait for the disk.
 */
const MARIADB_ARGS = [
  '--innodb-buffer-pool-size=2G',
  '--innodb-log-file-size=512M',
  '--innodb-log-file-buffering=ON',
]
const POSTGRES_ARGS = ['-c', 'shared_buffers=2GB', '-c', 'max_wal_size=4GB']

const SERVERS = {
  MariaDB: { start: () => startMariadb({ args: MARIADB_ARGS }), expiredIn: expiredInMariadb },
  PostgreSQL: { start: () => startPostgres({ args: POSTGRES_ARGS }), expiredIn: expiredInPostgres },
}

/** Charges go on while five million expired rows are removed. */
export async function benchSqlPurge(): Promise<void> {
  const outcomes = new Map<string, Outcome>()
  for (const [name, { start, expiredIn }] of Object.entries(SERVERS)) {
    const server = await start()
    try {
      outcomes.set(name, await purge(name, server, expiredIn(server)))
    } finally {
      await server.stop()
    }
  }
  printWaits(outcomes)
  printRemoved(outcomes)
}

async function purge(name: string, server: SqlServer, rows: ExpiredRows): Promise<Outcome> {
  const child = startChild(new URL('./sql-purge-child.ts', import.meta.url), [name, server.url], HEAP_MB)
  const ask = (question: PurgeQuestion) => child.ask<unknown>(question)
  try {
    await ask({ do: 'prepare' })
    await rows.fill()
    assert.equal(await rows.left(), EXPIRED_ROWS, `${name}: not all rows were added`)
    await ask({ do: 'charge each key' })
    await slices(child, WARM_UP_SLICES)
    const before = phaseOf(await slices(child, QUIET_SLICES))
    await ask({ do: 'begin purging' })
    const { waited, removed } = await slicesUntilGone(child, rows)
    await ask({ do: 'end purging' })
    const removedInAll = EXPIRED_ROWS - (await rows.left())
    assert.ok(removedInAll > 0 && removedInAll >= (removed.at(-1) ?? 0), `${name}: rows were miscounted`)
    const after = phaseOf(await slices(child, QUIET_SLICES))
    await ask({ do: 'check' })
    return { phases: { before, purging: phaseOf(waited), after }, removed, removedInAll }
  } finally {
    await child.end()
  }
}

async function slicesUntilGone(child: Child, rows: ExpiredRows) {
  const before = await rows.removed()
  const waited: number[][] = []
  const removed: number[] = []
  while (waited.length < MOST_SLICES && (removed.at(-1) ?? 0) < EXPIRED_ROWS) {
    waited.push(await slice(child))
    removed.push((await rows.removed()) - before)
  }
  return { waited, removed }
}

function slice(child: Child): Promise<number[]> {
  return child.ask<number[]>({ do: 'charge', forMs: SLICE_MS } satisfies PurgeQuestion)
}

async function slices(child: Child, count: number): Promise<number[][]> {
  const all: number[][] = []
  for (let i = 0; i < count; i++) all.push(await slice(child))
  return all
}
