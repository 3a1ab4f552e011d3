import { setTimeout as pause } from 'node:timers/promises'
import { describeStoreConformance } from '../../support/store-conformance.js'
import type { UserPool } from './database-kind.js'
import { mysql } from './mariadb-kind.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

describe.each([...DATABASES, ['MySQL', mysql]] as typeof DATABASES)('%s', (_, kind) => {
  const database = setUpDatabase(kind)
  let pool: UserPool
  let table: string

  beforeAll(async () => {
    pool = database.open()
    table = await database.makeTable()
  })

  describeStoreConformance(`${kind.name}Store`, {
    capabilities: { settableClock: false, anyKey: true, atomicAcrossKeys: true },
    async makeStore() {
      await pool.run(`DELETE FROM ${table}`)
      await pool.run(`DELETE FROM ${table}_documents`)
      return { store: pool.makeStore({ table }), advance: (ms) => pause(ms + 2) }
    },
  })
})

describe('where MySQL returns one row by default', () => {
  const database = setUpDatabase(mysql)

  test('all documents are read', async () => {
    const { store } = await database.makeStore({ settings: ['sql_select_limit=1'] })
    const { documents } = store
    for (const key of ['one', 'two']) expect(await documents?.replace(key, key, undefined)).toBe(true)
    const read = await documents?.read([{ key: 'one' }, { key: 'two' }])
    expect(read).toMatchObject([{ text: 'one' }, { text: 'two' }])
  })
})
