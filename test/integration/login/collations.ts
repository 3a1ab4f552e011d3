import express from 'express'
import { foldName, loginGuard, memoryStore } from 'headgate'
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise'
import { closeServers, type Served, send, serve } from '../../support/http.js'
import type { SqlServer } from '../../support/servers/databases.js'
import { startMariadb } from '../../support/servers/mariadb.js'
import { NOON_MS } from '../../unit/login/guarded-login.js'

/** Collations that follow the Unicode Collation Algorithm, of its versions 14, 4 and 5.2. */
const COLLATIONS = ['utf8mb4_uca1400_as_cs', 'utf8mb4_unicode_ci', 'utf8mb4_unicode_520_ci'] as const

/** What the default limits let through for one account, from whatever addresses. */
const ACCOUNT_LIMIT = 10

let server: SqlServer
let pool: Pool

const ignored = new Map<string, Promise<string[]>>()

/**
 * All characters that a collation ignores within a name, so that `ada` with one of them is the row of `ada`.
 * The server compares a million characters for that, once for each collation.
 */
function ignoredBy(collation: string): Promise<string[]> {
  const known = ignored.get(collation) ?? queryIgnored(collation)
  ignored.set(collation, known)
  return known
}

async function queryIgnored(collation: string): Promise<string[]> {
  const character = 'CONVERT(CHAR(seq USING utf32) USING utf8mb4)'
  const rows = await server.query(
    'SELECT seq FROM seq_0_to_1114111 WHERE NOT seq BETWEEN 0xD800 AND 0xDFFF ' +
      `AND CONCAT('ad', ${character}, 'a') = 'ada' COLLATE ${collation}`,
  )
  return rows.map(({ seq }) => String.fromCodePoint(Number(seq)))
}

const isInvisible = (character: string) => /\p{C}/u.test(character)

interface Login extends Served {
  /** Names whose account the handler found, each of which was a guess at its password. */
  readonly guesses: string[]
}

/** A login that looks accounts up in a table of MariaDB, behind a guard with the default limits. */
async function startLogin(table: string, lookedUpBy: (name: string) => string | undefined): Promise<Login> {
  const guesses: string[] = []
  const guard = loginGuard({
    field: 'username',
    store: memoryStore({ clock: () => NOON_MS }),
  })
  const app = express().set('trust proxy', 1)
  app.post('/login', express.json(), guard, async (req, res) => {
    const { username } = req.body
    const name = lookedUpBy(username)
    const [rows] = await pool.query<RowDataPacket[]>(`SELECT name FROM ${table} WHERE name = ?`, [
      name ?? null,
    ])
    if (rows.length > 0) guesses.push(username)
    res.sendStatus(401)
  })
  return { ...(await serve(app)), guesses }
}

/** Guesses at each name once, each time from another address. */
async function guess(login: Login, names: readonly string[]): Promise<number[]> {
  const statuses: number[] = []
  for (const [i, username] of names.entries()) {
    const { status } = await send(login, {
      method: 'POST',
      path: '/login',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': `203.0.${i >> 8}.${i & 255}` },
      body: JSON.stringify({ username }),
    })
    statuses.push(status)
  }
  return statuses
}

/** Defines the tests of names that some collations take for one. */
export function describeCollations(...collations: (typeof COLLATIONS)[number][]): void {
  beforeAll(async () => {
    server = await startMariadb({ own: true }) // MySQL has no such collations
    pool = createPool({ uri: server.url, connectionLimit: 1 })
    for (const collation of [...COLLATIONS, 'utf8mb4_bin']) {
      await pool.query(`CREATE TABLE ${collation} (name VARCHAR(64) COLLATE ${collation} PRIMARY KEY)`)
      await pool.query(`INSERT INTO ${collation} VALUES ('ada')`)
    }
  }, 600_000) // where MariaDB has to be installed first

  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  afterEach(closeServers)

  test.each(collations)(
    'no invisible character that %s ignores makes a second account',
    async (collation) => {
      const characters = (await ignoredBy(collation)).filter(isInvisible)
      expect(characters).toEqual(
        expect.arrayContaining(['\0', '\u0001', '\u0600', '\u06dd', '\ufff9', '\ufffb']),
      )

      const login = await startLogin(collation, (name) => name)
      const names = characters.map((each, i) => [`${each}ada`, `ad${each}a`, `ada${each}`][i % 3] as string)
      expect(new Set(await guess(login, names))).toEqual(new Set([400]))
      expect(login.guesses).toEqual([])
    },
  )

  test('characters that only a collation ignores make no second account if names are looked up by foldName', async () => {
    const characters = (await ignoredBy('utf8mb4_uca1400_as_cs')).filter((each) => !isInvisible(each))
    const known = ['\u0640', '\u07fa', '\u180a', '\ufe0f']
    expect(characters).toEqual(expect.arrayContaining(known))
    const names = [...known, ...characters.filter((_, i) => i % 8 === 0)].map((each) => `ad${each}a`)

    const raw = await startLogin('utf8mb4_uca1400_as_cs', (name) => name)
    await guess(raw, names)
    expect(raw.guesses.length).toBeGreaterThan(5 * ACCOUNT_LIMIT)

    const folded = await startLogin('utf8mb4_bin', foldName)
    await guess(folded, names)
    expect(folded.guesses).toHaveLength(ACCOUNT_LIMIT)
  })
}
