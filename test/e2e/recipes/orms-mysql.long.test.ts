import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SqlServer } from '../../support/servers/databases.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startMariadb } from '../../support/servers/mariadb.js'
import { compileBlocks, writeProject } from '../docs/compile-blocks.js'
import { linkFetchedPackages } from '../docs/fetched-packages.js'
import { ROOT } from '../package/run.js'

const page = readFileSync(join(ROOT, 'docs/orms.md'), 'utf8')
/** The expressions of the table, by the libraries of their row. */
const stores = Object.fromEntries(
  Array.from(page.matchAll(/^\| ([\w, ]+) \| .*?`(mysqlStore\([^`]+\))`/gm), ([, names = '', code = '']) => [
    names,
    code,
  ]),
)

/** What a program with each library has before the expression of its row. */
const PROGRAMS: Readonly<Record<string, string>> = {
  Drizzle: `
    import { drizzle } from 'drizzle-orm/mysql2'
    const db = drizzle(process.env.MYSQL_URL)`,
  Kysely: `
    import { Kysely, MysqlDialect } from 'kysely'
    import { createPool } from 'mysql2'
    const pool = createPool(process.env.MYSQL_URL)
    export const db = new Kysely({ dialect: new MysqlDialect({ pool }) })`,
  TypeORM: `
    import { DataSource } from 'typeorm'
    const dataSource = new DataSource({ type: 'mysql', url: process.env.MYSQL_URL })
    await dataSource.initialize()`,
  'Prisma, Knex, Sequelize': `
    import { createPool } from 'mysql2'
    const uri = process.env.MYSQL_URL`,
}

const POSTGRES_JS = `
  import postgres from 'postgres'
  import { postgresStore } from 'headgate/postgres'
  try {
    postgresStore(postgres(process.env.MYSQL_URL))
  } catch (error) {
    console.log(error.message)
  }`

let server: SqlServer
let folder: string

const run = async (...args: readonly string[]) => {
  const env = { ...process.env, MYSQL_URL: server.url }
  return (await promisify(execFile)(process.execPath, args, { cwd: folder, env })).stdout
}

beforeAll(async () => {
  server = await startMariadb()
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  folder = mkdtempSync(join(ROOT, '.cache/orms-mysql-'))
  writeProject(folder)
  const programs = Object.entries(PROGRAMS).map(
    ([name, code]) =>
      `import { mysqlStore } from 'headgate/mysql'${code}\nexport const limits = ${stores[name]}`,
  )
  const blocks = [...programs, POSTGRES_JS].map((code) => ({ code }))
  await linkFetchedPackages(folder, blocks)
  cpSync(join(__dirname, 'orms/drive.ts'), join(folder, 'drive.ts'))
  for (const [i, { code }] of blocks.entries()) writeFileSync(join(folder, `program-${i}.ts`), code)
  await compileBlocks(folder)
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server?.stop()
})

test('the table shows the pool of each library', () => {
  expect(Object.keys(stores)).toEqual(Object.keys(PROGRAMS))
})

test.each(Array.from(Object.keys(PROGRAMS).entries()))(
  'program %i, of %s: a limit over its pool admits exactly what it says',
  async (i) => {
    const stdout = await run('drive.js', `program-${i}.js`)
    expect(JSON.parse(stdout)).toEqual({ allowed: 10, sources: ['store'] })
  },
)

test('postgres.js has no pool that headgate could take', async () => {
  expect(page).toContain('[postgres.js](https://github.com/porsager/postgres) has no pool')
  expect(await run(`program-${Object.keys(PROGRAMS).length}.js`)).toBe(
    'postgresStore: pool must be a pg pool, got a function. Write postgresStore(new Pool({ connectionString })).\n',
  )
})
