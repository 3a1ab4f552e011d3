import { fixedWindow } from 'headgate'
import { hints } from '../../../src/stores/sql/errors.js'
import { part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import type { Kind } from './database-kind.js'
import { failureOf } from './failures.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const charge = [[part('key', fixedWindow({ limit: 5, window: '1h' }))]]

/** The URL of the server, changed, and the fix. */
const MISTAKES: readonly (readonly [string, (url: URL) => void, string])[] = [
  [
    'the port is another',
    (url) => {
      url.port = '1'
    },
    "Check that the database runs at the pool's address.",
  ],
  [
    'the database does not exist',
    (url) => {
      url.pathname = '/missing'
    },
    'Create the database, or correct its name',
  ],
]

/** Debian's servers have no TLS set up, and trust everyone on PostgreSQL. */
const TLS: Readonly<Record<Kind['name'], object>> = {
  mysql: { ssl: { rejectUnauthorized: false } },
  postgres: { ssl: { rejectUnauthorized: false } },
}

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)

  async function messageAt(url: string, driver: object = {}): Promise<string> {
    const pool = kind.open(url, { driver })
    try {
      const { message } = await failureOf(kind, chargeStore(pool.makeStore(), charge))
      return message
    } finally {
      await pool.end()
    }
  }

  test.each(MISTAKES)('a charge says the fix if %s', async (_what, change, fix) => {
    const url = new URL(database.server.url)
    change(url)
    expect(await messageAt(String(url))).toContain(fix)
  })

  test('a charge says the fix if the pool uses TLS, and the server does not', async () => {
    expect(await messageAt(database.server.url, TLS[kind.name])).toContain(
      "The server does not use TLS: leave out the pool's option ssl.",
    )
  })

  test('a charge says the fix if the user has another password', async () => {
    if (kind.name === 'postgres') {
      // This server trusts everyone.
      const cause = Object.assign(new Error('password authentication failed for user "guest"'), {
        code: '28P01',
      })
      expect(hints('postgres', '"headgate"')(cause)).toBe("Correct the pool's user and password.")
      return
    }
    await database.server.query("CREATE USER 'guest'@'%' IDENTIFIED BY 'right'")
    const url = new URL(database.server.url)
    Object.assign(url, { username: 'guest', password: 'wrong' })
    expect(await messageAt(String(url))).toContain("Correct the pool's user and password.")
  })
})
