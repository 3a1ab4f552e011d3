import { setTimeout as pause } from 'node:timers/promises'
import { mysqlStore } from 'headgate/mysql'
import { createPool, type Pool } from 'mysql2/promise'
import type { SqlServer } from '../../support/servers/databases.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startMariadb } from '../../support/servers/mariadb.js'
import { describeStoreConformance } from '../../support/store-conformance.js'

let server: SqlServer
let pool: Pool

beforeAll(async () => {
  server = await startMariadb()
  pool = createPool({ uri: server.url, connectionLimit: 10 })
  await mysqlStore(pool).prepare()
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await pool?.end()
  await server?.stop()
})

describeStoreConformance('mysqlStore', {
  capabilities: { settableClock: false, anyKey: true, atomicAcrossKeys: true },
  async makeStore() {
    await pool.query('DELETE FROM headgate')
    await pool.query('DELETE FROM headgate_documents')
    return { store: mysqlStore(pool), advance: (ms) => pause(ms + 2) }
  },
})
