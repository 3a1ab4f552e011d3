import { mysql } from './mariadb-kind.js'
import { setUpDatabase } from './set-up-database.js'
import { describeSqlConformance } from './sql-conformance.js'

describeSqlConformance('sample')

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
