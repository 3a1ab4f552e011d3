import { consecutive } from 'headgate'
import { allowedCount, part } from '../../conformance/kit.js'
import { failureOf } from './failures.js'
import { surroundings } from './kit.js'
import { mariadb } from './mariadb-kind.js'
import { postgres } from './postgres-kind.js'

const policy = consecutive({ limit: 2 })

describe('on PostgreSQL', () => {
  const around = surroundings(postgres, { own: true })

  test('prepare() takes an index of another name', async () => {
    const { store, pool, table } = await around.makeStore()
    await pool.run(`ALTER INDEX ${table}_expires_at RENAME TO of_the_migrations`)
    await store.prepare()
    const indexes = await pool.run(`SELECT indexname FROM pg_indexes WHERE tablename = '${table}'`)
    expect(indexes.map(({ indexname }) => indexname).sort()).toEqual(
      [`${table}_pkey`, 'of_the_migrations'].sort(),
    )
  })

  test('prepare() of a user who may only use the table does nothing, where the migrations made it', async () => {
    const table = await around.makeTable()
    const admin = around.open()
    await admin.run("CREATE USER application PASSWORD 'correct-horse'")
    await admin.run(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO application`)
    const change = { username: 'application', password: 'correct-horse' }
    const pool = around.openAs((url) => Object.assign(url, change))
    const store = pool.makeStore({ table })
    for (let i = 0; i < 2; i++) await store.prepare()
    for (const allowed of [1, 1, 0])
      expect(allowedCount(await store.charge([[part('a', policy)]]))).toBe(allowed)
    expect(await pool.removeExpired(table, 10)).toBe(0)
  })
})

const COLUMNS = '`key` VARBINARY(255) NOT NULL, state VARBINARY(1024) NOT NULL, expires_at BIGINT NOT NULL'
const NOT_UNIQUE = 'its keys are not unique'
const NO_INDEX = 'it has no index of expires_at'

/** Tables with our columns, and what each lacks. */
const LACKING: readonly (readonly [string, indexes: string, message: string])[] = [
  ['no index at all', '', NOT_UNIQUE],
  ['no primary key', ', KEY (expires_at)', NOT_UNIQUE],
  ['a primary key of two columns', ', PRIMARY KEY (`key`, expires_at), KEY (expires_at)', NOT_UNIQUE],
  ['keys whose first letters are unique', ', UNIQUE KEY (`key`(10)), KEY (expires_at)', NOT_UNIQUE],
  ['an index of keys that may be there twice', ', KEY (`key`), KEY (expires_at)', NOT_UNIQUE],
  ['a primary key that begins with another column', ', PRIMARY KEY (expires_at, `key`)', NOT_UNIQUE],
  ['no index of expires_at', ', PRIMARY KEY (`key`)', NO_INDEX],
  ['an index that begins with another column', ', PRIMARY KEY (`key`), KEY (state(8), expires_at)', NO_INDEX],
]

describe('on MariaDB', () => {
  const around = surroundings(mariadb)

  test.each(LACKING)('prepare() of a table with %s says so', async (title, indexes, expected) => {
    const table = `with_${title.replaceAll(' ', '_')}`
    const pool = around.open()
    await pool.run(`CREATE TABLE ${table} (${COLUMNS}${indexes})`)
    const { message } = await failureOf(mariadb, pool.makeStore({ table }).prepare())
    expect(message).toContain(expected)
    expect(message).toContain(`The table \`${table}\` differs from the one that mysqlSchema() creates`)
  })

  test('prepare() takes indexes of other names', async () => {
    const pool = around.open()
    await pool.run(`CREATE TABLE ours (${COLUMNS}, UNIQUE KEY a (\`key\`), KEY b (expires_at, \`key\`))`)
    const store = pool.makeStore({ table: 'ours' })
    await store.prepare()
    expect(allowedCount(await store.charge([1, 1, 1].map(() => [part('a', policy)])))).toBe(2)
  })
})
