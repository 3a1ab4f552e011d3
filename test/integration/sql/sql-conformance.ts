import { setTimeout as pause } from 'node:timers/promises'
import type { ConformanceSetup } from 'headgate/testing'
import { describeStoreConformance, type Extent } from '../../support/store-conformance.js'
import type { UserPool } from './database-kind.js'
import { mysql } from './mariadb-kind.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

/** Defines the tests of the store contract for each database. */
export function describeSqlConformance(extent: Extent): void {
  describe.each([...DATABASES, ['MySQL', mysql]] as typeof DATABASES)('%s', (_, kind) => {
    const database = setUpDatabase(kind)
    let pool: UserPool
    let table: string

    beforeAll(async () => {
      pool = database.open()
      table = await database.makeTable()
    })

    const setup: ConformanceSetup = {
      capabilities: { settableClock: false, anyKey: true, atomicAcrossKeys: true },
      async makeStore() {
        await pool.run(`DELETE FROM ${table}`)
        await pool.run(`DELETE FROM ${table}_documents`)
        return { store: pool.makeStore({ table }), advance: (ms) => pause(ms + 2) }
      },
    }
    describeStoreConformance(`${kind.name}Store`, setup, extent)
  })
}
