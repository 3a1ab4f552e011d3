import { setTimeout as pause } from 'node:timers/promises'
import { postgresStore } from 'headgate/postgres'
import { Pool } from 'pg'
import type { SqlServer } from '../../support/servers/databases.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startPostgres } from '../../support/servers/postgres.js'
import { describeStoreConformance } from '../../support/store-conformance.js'

let server: SqlServer
let pool: Pool

beforeAll(async () => {
  server = await startPostgres()
  pool = new Pool({ connectionString: server.url })
  pool.on('error', () => {}) // it ends while the server does
  await postgresStore(pool).prepare()
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await pool?.end()
  await server?.stop()
})

describeStoreConformance('postgresStore', {
  capabilities: { settableClock: false, anyKey: true, atomicAcrossKeys: true },
  async makeStore() {
    await pool.query('DELETE FROM headgate')
    await pool.query('DELETE FROM headgate_documents')
    return { store: postgresStore(pool), advance: (ms) => pause(ms + 2) }
  },
})
