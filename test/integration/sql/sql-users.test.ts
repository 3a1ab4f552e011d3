import type { Kind, PoolOptions, UserPool } from './database-kind.js'
import { CALLS, failureOf, WRITES } from './failures.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

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

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind, { own: true })
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
    expect(message).toMatch(/denied.*prepare\(\) needs CREATE/)
  })

  test.each(WRITES)('%s on read-only connections says what the store needs', async (_title, call) => {
    const { store } = await database.makeStore({ settings: [readOnly] })
    const { message } = await failureOf(kind, call(store))
    expect(message).toMatch(/The store needs a server that it can write to, not a replica\./)
  })

  test.each(WRITES)('%s on a read-only server says so, until it is writable', async (_title, call) => {
    const { pool, user, table, store } = await makeReader({ size: 1 })
    await admin.run(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO ${called(user)}`)
    await admin.run(freeze)
    try {
      const { message } = await failureOf(kind, call(store))
      expect(message).toMatch(/The store needs a server that it can write to, not a replica\./)
    } finally {
      await admin.run(thaw)
    }
    await pool.end() // such a setting is read when a connection is made
    const later = database.openAs((url) => Object.assign(url, { username: user, password: PASSWORD }))
    await call(later.makeStore({ table }))
  })
})
