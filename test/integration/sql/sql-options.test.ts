import { mysqlSchema, mysqlStore } from 'headgate/mysql'
import { postgresSchema, postgresStore } from 'headgate/postgres'
import { createConnection, createPool, createPoolCluster } from 'mysql2'
import { createPool as createPromisePool } from 'mysql2/promise'
import { Client, Pool } from 'pg'

/** Never connected: a pool connects with its first query. */
const MYSQL_URI = 'mysql://nobody@127.0.0.1:1/nowhere'

interface Factory {
  readonly store: (pool?: unknown, options?: unknown) => { readonly name: string }
  readonly schema: (options?: { readonly table?: unknown }) => string
  readonly pools: readonly unknown[]
  /** What is no pool of this driver. */
  readonly others: readonly unknown[]
  readonly hint: string
}

/** Connections that never connect, but are there. */
function loneMysqlConnection() {
  const connection = createConnection({ uri: MYSQL_URI })
  connection.on('error', () => undefined)
  return connection
}

const NO_POOLS = [undefined, null, 'mysql://127.0.0.1/db', 3306, {}, [], () => undefined, { query() {} }]

const FACTORIES: readonly (readonly [string, Factory])[] = [
  [
    'mysqlStore',
    {
      store: mysqlStore as Factory['store'],
      schema: mysqlSchema as Factory['schema'],
      pools: [createPool(MYSQL_URI), createPromisePool(MYSQL_URI)],
      others: [...NO_POOLS, new Pool(), new Client(), loneMysqlConnection(), createPoolCluster()],
      hint: 'Write mysqlStore(mysql.createPool(url)).',
    },
  ],
  [
    'postgresStore',
    {
      store: postgresStore as Factory['store'],
      schema: postgresSchema as Factory['schema'],
      pools: [new Pool(), new Pool({ connectionString: 'postgres://nobody@127.0.0.1:1/nowhere', max: 1 })],
      others: [...NO_POOLS, new Client(), createPool(MYSQL_URI), createPromisePool(MYSQL_URI)],
      hint: 'Write postgresStore(new Pool({ connectionString })).',
    },
  ],
]

const GOOD_TABLES = ['headgate', 'H', '_a', 'a$1', 'x'.repeat(51), 'limits.headgate', `${'s'.repeat(51)}.t`]
const WRONG_TABLES = [
  ...[
    '',
    ' ',
    'a b',
    'a-b',
    '1a',
    '$a',
    '.a',
    'a.',
    'a.b.c',
    'a..b',
    'x'.repeat(52),
    'é',
    'a`b',
    'a"b',
    "a'b",
  ],
  ...['a;b', 'a\0', 'a\n', 'headgate; DROP TABLE users', '"headgate"', '`headgate`', '%', 'a\\'],
  ...[null, 5, true, {}, ['headgate'], () => 'headgate', { toString: () => 'headgate' }],
]

describe.each(FACTORIES)('%s', (factory, { store, schema, pools, others, hint }) => {
  const [pool] = pools

  test.each(pools)('accepts a pool of the driver (%#)', (good) => {
    expect(store(good).name).toBe(factory.replace('Store', ''))
  })

  test.each(others)('throws for any other value, and says what to write (%#)', (other) => {
    expect(() => store(other)).toThrow(TypeError)
    expect(() => store(other)).toThrow(`${factory}: pool must be a `)
    expect(() => store(other)).toThrow(hint)
  })

  test.each(GOOD_TABLES)('accepts the table name %s', (table) => {
    store(pool, { table })
    for (const name of table.split('.')) expect(schema({ table })).toContain(name)
  })

  test.each(WRONG_TABLES)('throws for the table name %p, and so does the schema', (table) => {
    for (const run of [() => store(pool, { table }), () => schema({ table })]) {
      expect(run).toThrow(TypeError)
      expect(run).toThrow(
        /: table must be a name of at most 51 letters, .*, got .*\. Write table: 'headgate'/,
      )
    }
  })

  test('names an unknown option', () => {
    expect(() => store(pool, { tabel: 'a' })).toThrow(
      `${factory}: there is no option "tabel". Did you mean table?`,
    )
    expect(() => store(pool, { max: 10 })).toThrow(TypeError)
    for (const options of [null, 'headgate', [], 5])
      expect(() => store(pool, options)).toThrow(`${factory}: options must be an object`)
  })

  test('accepts missing options', () => {
    for (const options of [undefined, {}, { table: undefined }]) store(pool, options)
    expect(schema()).toBe(schema({ table: 'headgate' }))
  })
})
