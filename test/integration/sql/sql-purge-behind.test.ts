import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { consecutive } from 'headgate'
import { allowedCount, part } from '../../../src/testing/conformance/store-calls.js'
import { forgetWarnings } from '../../../src/util/warn-once.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore } from '../../support/store-calls.js'
import type { UserPool } from './database-kind.js'
import { childArgs } from './open-in-child.js'
import { DATABASES, insertRows, setUpDatabase } from './set-up-database.js'

const run = promisify(execFile)
const policy = consecutive({ limit: 100_000 })

let program: Bundle

beforeAll(async () => {
  program = await bundle(join(__dirname, 'purge-child.ts'))
})

afterAll(() => program?.remove())

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)

  beforeEach(() => {
    jest.spyOn(Math, 'random').mockReturnValue(0) // every purge begins with the first charge
    jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    forgetWarnings()
  })

  afterEach(() => jest.restoreAllMocks())

  async function countIn(pool: UserPool, table: string): Promise<number> {
    const [row] = await pool.run(`SELECT count(*) AS count FROM ${table}`)
    return Number(row?.count)
  }

  test('charges purge the table in the background', async () => {
    const { pool, table } = await database.makeStore()
    await insertRows(kind, pool, table, { name: 'old', count: 1700, expiresAtS: 1 })
    await insertRows(kind, pool, table, { name: 'living', count: 100, expiresAtS: 4_000_000_000 })
    const store = pool.makeStore({ table })
    expect(allowedCount(await chargeStore(store, [[part('a', policy)]]))).toBe(1)
    await until('only those that live are left', async () => (await countIn(pool, table)) === 101)
    expect(process.emitWarning).not.toHaveBeenCalled()
  })

  test('nothing is removed without charges', async () => {
    const { pool, table } = await database.makeStore()
    await insertRows(kind, pool, table, { name: 'old', count: 10, expiresAtS: 1 })
    const store = pool.makeStore({ table })
    await store.prepare()
    await store.close()
    await chargeStore(store, [[part('a', policy)]]) // a closed store decides, and purges no more
    expect(await countIn(pool, table)).toBe(11)
  })

  test('a process that ends its pool exits, even while a purge is running', async () => {
    const { pool, table } = await database.makeStore()
    await insertRows(kind, pool, table, { name: 'old', count: 8000, expiresAtS: 1 })
    const args = [program.path, ...childArgs(kind, database.server.url, table)]
    const { stdout } = await run(process.execPath, args, { timeout: 100_000 })
    expect(stdout).toBe('true\n')
    expect(await countIn(pool, table)).toBeGreaterThan(4000)
  })
})
