import { consecutive } from 'headgate'
import { allowedCount, part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import { failureOf } from './failures.js'
import { mariadb } from './mariadb-kind.js'
import { postgres } from './postgres-kind.js'
import { setUpDatabase } from './set-up-database.js'

const policy = consecutive({ limit: 2 })

describe('on PostgreSQL', () => {
  const database = setUpDatabase(postgres)

  test('prepare() accepts an index of another name', async () => {
    const { store, pool, table } = await database.makeStore()
    await pool.run(`ALTER INDEX ${table}_expires_at RENAME TO of_the_migrations`)
    await store.prepare()
    const indexes = await pool.run(`SELECT indexname FROM pg_indexes WHERE tablename = '${table}'`)
    expect(indexes.map(({ indexname }) => indexname).sort()).toEqual(
      [`${table}_pkey`, 'of_the_migrations'].sort(),
    )
  })
})

const COLUMNS = '`key` VARBINARY(255) NOT NULL, state VARBINARY(8192) NOT NULL, expires_at BIGINT NOT NULL'

/** Tables with our columns whose keys are not unique: what each has, and its indexes. */
const NOT_UNIQUE: readonly (readonly [string, indexes: string])[] = [
  ['no index at all', ''],
  ['no primary key', ', KEY (expires_at)'],
  ['a primary key of two columns', ', PRIMARY KEY (`key`, expires_at), KEY (expires_at)'],
  ['a primary key that begins with another column', ', PRIMARY KEY (expires_at, `key`)'],
  ['a unique prefix of keys', ', UNIQUE KEY (`key`(10)), KEY (expires_at)'],
  ['an index of keys that is not unique', ', KEY (`key`), KEY (expires_at)'],
]

describe('on MariaDB', () => {
  const database = setUpDatabase(mariadb)

  test.each(NOT_UNIQUE)('prepare() rejects a table with %s', async (title, indexes) => {
    const table = `with_${title.replaceAll(' ', '_')}`
    const pool = database.open()
    await pool.run(`CREATE TABLE ${table} (${COLUMNS}${indexes})`)
    const { message } = await failureOf(mariadb, pool.makeStore({ table }).prepare())
    expect(message).toContain('its keys are not unique')
    expect(message).toContain(`The table \`${table}\` differs from the one that mysqlSchema() creates`)
  })

  test('prepare() accepts indexes of other names', async () => {
    const pool = database.open()
    await pool.run(`CREATE TABLE ours (${COLUMNS}, UNIQUE KEY a (\`key\`), KEY b (expires_at, \`key\`))`)
    const store = pool.makeStore({ table: 'ours' })
    await store.prepare()
    expect(
      allowedCount(
        await chargeStore(
          store,
          [1, 1, 1].map(() => [part('a', policy)]),
        ),
      ),
    ).toBe(2)
  })
})
