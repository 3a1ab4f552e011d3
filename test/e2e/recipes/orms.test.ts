import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createWebSocketStream, WebSocketServer } from 'ws'
import type { SqlServer } from '../../support/servers/databases.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startPostgres } from '../../support/servers/postgres.js'
import { compileBlocks, writeProject } from '../docs/compile-blocks.js'
import { linkFetchedPackages } from '../docs/fetched-packages.js'
import { blocksOf } from '../docs/pages.js'
import { ROOT } from '../package/run.js'

const PATH = 'docs/orms.md'
const text = readFileSync(join(ROOT, PATH), 'utf8')
const blocks = blocksOf({ path: PATH, text }).filter(({ language }) => language === 'ts')
/** The libraries, each the heading above a block. */
const names = blocks.map(({ line }) =>
  text
    .split('\n')
    .slice(0, line)
    .findLast((each) => each.startsWith('## ')),
)
const libraries = names.map((name) => (name ?? '').slice(3))

let server: SqlServer
let folder: string
const proxy = new WebSocketServer({ port: 0, host: '127.0.0.1' })

beforeAll(async () => {
  server = await startPostgres()
  folder = mkdtempSync(join(ROOT, '.cache/orms-'))
  writeProject(folder)
  await linkFetchedPackages(folder, blocks)
  cpSync(join(__dirname, 'orms/drive.ts'), join(folder, 'drive.ts'))
  for (const [i, { code }] of blocks.entries()) writeFileSync(join(folder, `${libraries[i]}.ts`), code)
  await compileBlocks(folder)
  const { hostname, port } = new URL(server.url)
  proxy.on('connection', (socket) => {
    const stream = createWebSocketStream(socket)
    const database = connect(Number(port), hostname)
    stream.pipe(database).pipe(stream)
    stream.on('error', () => database.destroy())
    database.on('error', () => stream.destroy())
  })
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  proxy.close()
  rmSync(folder, { recursive: true, force: true })
  await server?.stop()
})

test('the page shows each library', () => {
  expect(libraries).toEqual(['Drizzle', 'Kysely', 'TypeORM', 'Prisma', 'Knex', 'Sequelize', 'Neon'])
})

test.each(libraries)('%s: a limit over its pool admits exactly what it says', async (library) => {
  const address = library === 'Neon' ? [`127.0.0.1:${(proxy.address() as AddressInfo).port}`] : []
  const { stdout } = await promisify(execFile)(process.execPath, ['drive.js', `${library}.js`, ...address], {
    cwd: folder,
    env: { ...process.env, POSTGRES_URL: server.url },
  })
  expect(JSON.parse(stdout)).toEqual({ allowed: 10, sources: ['store'] })
})
