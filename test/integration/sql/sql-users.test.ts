import { consecutive } from 'headgate'
import { allowedCount, part } from '../../../src/testing/conformance/store-calls.js'
import { forgetWarnings } from '../../../src/util/warn-once.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore } from '../../support/store-calls.js'
import type { Kind, PoolOptions, UserPool } from './database-kind.js'
import { CALLS, failureOf, WRITES } from './failures.js'
import { mariadb } from './mariadb-kind.js'
import { postgres } from './postgres-kind.js'
import { DATABASES, type DatabaseSetup, insertRows, setUpDatabase } from './set-up-database.js'

const PASSWORD = 'correct-horse'

interface Users {
  /** Makes a user who may read this table, and no more. */
  make(name: string, table: string): readonly string[]
  /** How the user is called in SQL. */
  called(name: string): string
  /** What makes a connection refuse to write. */
  readonly readOnly: string
  /** Makes the server refuse to write for such users, and undoes that. */
  readonly freeze: string
  readonly thaw: string
}

const USERS: Readonly<Record<Kind['name'], Users>> = {
  mysql: {
    make: (name, table) => [
      `CREATE USER ${name}@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'`,
      `GRANT SELECT ON ${table} TO ${name}@'127.0.0.1'`,
    ],
    called: (name) => `${name}@'127.0.0.1'`,
    readOnly: 'tx_read_only=1',
    freeze: 'SET GLOBAL read_only = 1',
    thaw: 'SET GLOBAL read_only = 0',
  },
  postgres: {
    make: (name, table) => [
      `CREATE USER ${name} PASSWORD '${PASSWORD}'`,
      `GRANT SELECT ON ${table} TO ${name}`,
    ],
    called: (name) => name,
    readOnly: 'default_transaction_read_only=on',
    freeze: 'ALTER DATABASE postgres SET default_transaction_read_only = on',
    thaw: 'ALTER DATABASE postgres RESET default_transaction_read_only',
  },
}

/** Makes a user who may do all that a charge needs, but remove rows. */
const KEEPER: Readonly<Record<Kind['name'], (table: string) => readonly string[]>> = {
  mysql: (table) => [
    `CREATE USER keeper@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'`,
    `GRANT SELECT, INSERT, UPDATE ON ${table} TO keeper@'127.0.0.1'`,
  ],
  postgres: (table) => [
    `CREATE USER keeper PASSWORD '${PASSWORD}'`,
    `GRANT SELECT, INSERT, UPDATE ON ${table} TO keeper`,
  ],
}

const databases: Readonly<Record<Kind['name'], DatabaseSetup>> = {
  mysql: setUpDatabase(mariadb, { own: true }),
  postgres: setUpDatabase(postgres, { own: true }),
}

afterEach(() => jest.restoreAllMocks())

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = databases[kind.name]
  const { make, called, readOnly, freeze, thaw } = USERS[kind.name]
  let admin: UserPool
  let users = 0

  beforeAll(() => {
    admin = database.open()
  })

  /** A user who may only read, and a pool of theirs. */
  async function makeReader(options?: PoolOptions) {
    const user = `reader_${++users}`
    const table = await database.makeTable()
    for (const sql of make(user, table)) await admin.run(sql)
    const pool = database.openAs((url) => Object.assign(url, { username: user, password: PASSWORD }), options)
    return { user, table, pool, store: pool.makeStore({ table }) }
  }

  test.each(WRITES)(
    '%s of a user who may only read says what to grant, and that is enough',
    async (_title, call) => {
      const { user, table, store } = await makeReader()
      const { message } = await failureOf(kind, call(store))
      const grant = `GRANT SELECT, INSERT, UPDATE, DELETE ON ${kind.quote(table)} TO …`
      expect(message).toContain(grant)
      await admin.run(grant.replace('…', called(user)))
      for (const [, each] of CALLS) await each(store)
    },
  )

  test('a user who may only read can peek', async () => {
    const { store } = await makeReader()
    const [, look] = CALLS.find(([title]) => title === 'a peek') ?? []
    expect(await look?.(store)).toMatchObject([{ allowed: true }])
  })

  test('prepare() of a user without CREATE says so', async () => {
    const { pool } = await makeReader()
    const { message } = await failureOf(kind, pool.makeStore({ table: 'not_made' }).prepare())
    expect(message).toMatch(/denied.*prepare\(\) also needs CREATE/)
  })

  test.each(WRITES)('%s on read-only connections says what the store needs', async (_title, call) => {
    const { store } = await database.makeStore({ settings: [readOnly] })
    const { message } = await failureOf(kind, call(store))
    expect(message).toMatch(/Connect the store to a server that accepts writes, not to a replica\./)
  })

  test.each(WRITES)('%s on a read-only server says so, until it is writable', async (_title, call) => {
    const { pool, user, table, store } = await makeReader({ size: 1 })
    await admin.run(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO ${called(user)}`)
    await admin.run(freeze)
    try {
      const { message } = await failureOf(kind, call(store))
      expect(message).toMatch(/Connect the store to a server that accepts writes, not to a replica\./)
    } finally {
      await admin.run(thaw)
    }
    await pool.end() // such a setting is read when a connection is made
    const later = database.openAs((url) => Object.assign(url, { username: user, password: PASSWORD }))
    await call(later.makeStore({ table }))
  })

  test('a purge that fails is reported once, and charges go on', async () => {
    const policy = consecutive({ limit: 10 })
    const { pool, table } = await database.makeStore()
    await insertRows(kind, pool, table, { name: 'old', count: 10, expiresAtS: 1 })
    for (const sql of KEEPER[kind.name](table)) await admin.run(sql)
    jest.spyOn(Math, 'random').mockReturnValue(0) // every purge begins with the first charge
    jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    forgetWarnings()
    const keepers = database.openAs((url) => Object.assign(url, { username: 'keeper', password: PASSWORD }))
    for (let i = 0; i < 3; i++) {
      const store = keepers.makeStore({ table })
      expect(allowedCount(await chargeStore(store, [[part('a', policy)]]))).toBe(1)
      await until(
        'the failed purge is reported',
        () => jest.mocked(process.emitWarning).mock.calls.length > 0,
      )
      await store.close()
    }
    expect(process.emitWarning).toHaveBeenCalledTimes(1)
    expect(process.emitWarning).toHaveBeenCalledWith(
      expect.stringMatching(/expired rows could not be removed \(.*denied.*\)/),
      expect.objectContaining({ code: 'HEADGATE_PURGE_FAILED' }),
    )
    expect(await pool.run(`SELECT 1 FROM ${table}`)).toHaveLength(11)
  })
})

describe('on PostgreSQL, of a table that migrations created', () => {
  const database = databases.postgres
  const policy = consecutive({ limit: 2 })

  test('prepare() does nothing for a user who may only use the table that migrations created', async () => {
    const table = await database.makeTable()
    const admin = database.open()
    await admin.run(`CREATE USER application PASSWORD '${PASSWORD}'`)
    await admin.run(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO application`)
    const change = { username: 'application', password: PASSWORD }
    const pool = database.openAs((url) => Object.assign(url, change))
    const store = pool.makeStore({ table })
    for (let i = 0; i < 2; i++) await store.prepare()
    for (const allowed of [1, 1, 0])
      expect(allowedCount(await chargeStore(store, [[part('a', policy)]]))).toBe(allowed)
    expect(await pool.removeExpired(table, 10)).toBe(0)
  })
})
