import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { figureIn, printedRun, printedTables } from '../docs/printed-tables.js'
import { describeBundleSizes } from './bundle-sizes.js'
import { describeBundles } from './bundled.js'
import { describeSamples } from './describe-samples.js'
import { ENTRIES } from './entries.js'
import { NODES } from './nodes.js'
import { bin, usePackedProject } from './packed-project.js'
import { mustRun, ROOT, run } from './run.js'
import { checkMistakes, checkTypes } from './type-checks.js'
import { BRIEF } from './type-projects.js'
import { CURRENT } from './typescripts.js'

jest.setTimeout(300_000)

const packed = usePackedProject()

const outputOf = async (command: string, args: readonly string[]) => {
  const { code, stdout, stderr } = await run(command, args, packed.project)
  return { code, output: `${stdout}${stderr}`.trim() }
}

test('the tarball holds the build, its documents and nothing else', async () => {
  const files = (await mustRun('tar', ['-tzf', packed.tarball], packed.project)).trim().split('\n')
  const built = ENTRIES.flatMap(({ name }) => [`${name}.js`, `${name}.d.ts`])
  const expected = [
    ...['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'],
    'dist/esm/cli.js',
    'dist/page.cjs',
    ...['esm', 'cjs'].flatMap((format) => [...built, 'package.json'].map((file) => `dist/${format}/${file}`)),
  ]
  const isChunk = (file: string) => /^package\/dist\/(esm|cjs)\/chunk-[\w-]+\.(js|d\.ts)$/.test(file)
  expect(files.filter((file) => !isChunk(file)).sort()).toEqual(
    expected.map((file) => `package/${file}`).sort(),
  )
})

test('npm has nothing to correct in package.json when it publishes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-publish-'))
  try {
    const before = readFileSync(join(ROOT, 'package.json'), 'utf8')
    writeFileSync(join(folder, 'package.json'), before)
    await mustRun('npm', ['pkg', 'fix'], folder)
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toEqual(JSON.parse(before))
  } finally {
    rmSync(folder, { recursive: true })
  }
})

let filesOfEntries: Promise<Record<string, string[]>> | undefined

/** Requires each entry anew, in one process. Returns the files that it loads. */
async function loadEntries(): Promise<Record<string, string[]>> {
  const load = `
    const loaded = {}
    for (const specifier of process.argv.slice(1)) {
      require(specifier)
      loaded[specifier] = Object.keys(require.cache)
      for (const file of loaded[specifier]) delete require.cache[file]
    }
    console.log(JSON.stringify(loaded))`
  const fileOf = (name: string) => join(packed.project, `node_modules/headgate/dist/cjs/${name}.js`)
  const args = ['--eval', load, ...ENTRIES.map(({ name }) => fileOf(name))]
  return JSON.parse(await mustRun(process.execPath, args, packed.project))
}

/** The chunks that an entry may load besides those of all middleware, by the start of their names. */
const OWN_CHUNKS: Readonly<Record<string, readonly string[]>> = {
  cluster: ['stores-cluster', 'stores-builders'],
  dashboard: ['dashboard', 'tuning'],
  dynamodb: ['stores-dynamodb', 'stores-builders'],
  'deno-kv': ['stores-deno-kv', 'stores-builders'],
  'durable-objects': ['stores-durable-objects', 'stores-builders'],
  'express-rate-limit': ['adapters-express-rate-limit'],
  fastify: ['adapters-fastify', 'http-delay', 'overload'],
  fetch: ['adapters-fetch', 'http-delay', 'overload'],
  hono: ['adapters-hono', 'adapters-fetch', 'http-delay', 'overload'],
  http: ['http-delay', 'overload'],
  index: ['http-delay', 'overload'],
  koa: ['adapters-koa', 'http-delay', 'overload'],
  memcached: ['stores-memcached', 'stores-builders'],
  metrics: ['metrics'],
  mysql: ['stores-sql-mysql', 'stores-sql', 'stores-builders'],
  nest: ['adapters-nest', 'http-delay', 'overload'],
  postgres: ['stores-sql-postgres', 'stores-sql', 'stores-builders'],
  redis: ['stores-redis'],
  'settings-file': ['settings-file'],
  sqlite: ['stores-sql-sqlite', 'stores-sql', 'stores-builders'],
  store: ['stores-builders'],
  testing: ['testing'],
  upstash: ['stores-redis'],
}
/** The page of the dashboard. */
const PAGE = 'page.cjs'
const COMMON_CHUNKS = [
  ...['http', 'keys', 'limiter', 'login', 'pipe', 'policies', 'rolldown-runtime', 'settings', 'stores'],
]

test.each(ENTRIES)(
  '$specifier loads its own bundle, and what entries share: no other entry',
  async (entry) => {
    filesOfEntries ??= loadEntries()
    const folder = join(packed.project, 'node_modules/headgate/dist/cjs/')
    const loaded = (await filesOfEntries)[`${folder}${entry.name}.js`] ?? []
    const bundles = loaded.map((file) => file.replace(/^.*\/node_modules\/headgate\/dist\/(cjs\/)?/, ''))
    const own = OWN_CHUNKS[entry.name] ?? []
    const isAllowed = (file: string) => {
      const [, chunk = ''] = /^chunk-([\w-]+)\.js$/.exec(file) ?? []
      const isOwn = own.some((name) => chunk === name || chunk.startsWith(`${name}-`))
      return (
        [`${entry.name}.js`, 'http.js'].includes(file) ||
        COMMON_CHUNKS.includes(chunk) ||
        isOwn ||
        (entry.name === 'dashboard' && file === PAGE)
      )
    }
    expect(bundles).toContain(`${entry.name}.js`)
    expect(bundles.filter((file) => !isAllowed(file))).toEqual([])
  },
)

test('the docs say how large the package is on disk, to a tenth, beside express-rate-limit', () => {
  const folder = join(packed.project, 'node_modules/headgate')
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
  const sizes = paths.map((path) => statSync(path)).filter((each) => each.isFile())
  const bytes = sizes.reduce((sum, { size }) => sum + size, 0)
  const page = readFileSync(join(ROOT, 'docs/benchmarks.md'), 'utf8')
  const said = /headgate is ([\d.]+) times as large .*?: ([\d.]+) MB in (\d+) files/s.exec(page) ?? []
  const [, times, megabytes, files] = said.map(Number) as [number, number, number, number]
  const tables = printedTables(printedRun('test/bench/results/import.txt'))
  const installed = (of: string, column: string) =>
    figureIn(tables, 'What is installed', { package: of }, column)
  const isNear = (claim: number, truth: number) => Math.abs(claim / truth - 1) < 0.1
  expect({ bytes, isNear: isNear(megabytes * 1e6, bytes) }).toEqual({ bytes, isNear: true })
  expect({ files: sizes.length, isNear: isNear(files, sizes.length) }).toEqual({
    files: sizes.length,
    isNear: true,
  })
  expect(installed('headgate', 'files')).toBe(files)
  expect(isNear(installed('headgate', 'KiB') * 1024, bytes)).toBe(true)
  expect(isNear(times, installed('headgate', 'KiB') / installed('express-rate-limit', 'KiB'))).toBe(true)
})

test('npx headgate runs the command, which knows its version', async () => {
  const command = join(packed.project, 'node_modules/.bin/headgate')
  const help = await outputOf(command, ['replay', '--help'])
  expect(help).toEqual({ code: 0, output: expect.stringMatching(/^Usage: headgate replay/) })
  const { version } = JSON.parse(
    readFileSync(join(packed.project, 'node_modules/headgate/package.json'), 'utf8'),
  )
  expect(await outputOf(command, ['--version'])).toEqual({ code: 0, output: version })
})

test("require('headgate/express-rate-limit') returns the function, with the other exports on it", async () => {
  const load =
    "const limit = require('headgate/express-rate-limit'); console.log(typeof limit({}), Object.keys(limit))"
  const printed = await mustRun(process.execPath, ['--eval', load], packed.project)
  expect(printed).toContain('function')
  for (const name of ['MemoryStore', 'default', 'ipKeyGenerator', 'rateLimit'])
    expect(printed).toContain(name)
})

test('types name no package but frameworks, and only those for their applications name one', async () => {
  const folder = join(packed.project, 'node_modules/headgate/dist/cjs')
  const naming = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.d.ts'))
    .flatMap((file) => {
      const types = readFileSync(join(folder, file), 'utf8')
      const names = Array.from(types.matchAll(/(?:from |import\(|types=)"([^"]+)"/g), ([, name = '']) => name)
      return names.filter((name) => !/^(node:|\.{1,2}\/)/.test(name)).map((name) => `${file}: ${name}`)
    })
  expect(naming).toEqual([
    'chunk-adapters-express-rate-limit.d.ts: express',
    'chunk-adapters-fastify.d.ts: fastify',
    'chunk-adapters-hono.d.ts: hono',
    'chunk-adapters-koa.d.ts: koa',
    'fastify.d.ts: fastify',
    'hono.d.ts: hono',
    'index.d.ts: express',
    'koa.d.ts: koa',
  ])
})

test('publint finds nothing', async () => {
  const { code, output } = await outputOf(bin('publint'), ['run', packed.tarball, '--strict'])
  expect(output).toMatch(/All good!$/)
  expect(code).toBe(0)
})

test('the types are right for every way to resolve them', async () => {
  const { code, output } = await outputOf(bin('attw'), [
    packed.tarball,
    '--no-definitely-typed',
    '--format',
    'json',
  ])
  expect(JSON.parse(output)).toMatchObject({ analysis: { packageName: 'headgate', problems: [] } })
  expect(code).toBe(0)
})

describe('its types', () => {
  checkTypes(() => packed.tarball, [[CURRENT, BRIEF]])
  checkMistakes(() => packed.tarball)
})

describe('in another project', () => {
  describe('where it is imported and required in one process', () => {
    let seen: Record<string, unknown>
    beforeAll(async () => {
      seen = JSON.parse(await mustRun(process.execPath, ['both.mjs'], packed.project))
    })

    test('there is one copy of it, and two on a Node.js that cannot require an ES module', () => {
      expect(seen).toMatchObject({ isRequiredAsImported: true, copies: 2 })
    })

    describe.each(['requiredInImported', 'importedInRequired'])('%s', (direction) => {
      const data = 'allowed,limit,limitName,moreAfterMs,parts,remaining,resetAfterMs,retryAfterMs,source'

      test.each<[string, object]>([
        ['block sees the address that a key of the other copy reads', { block: [403, 200, 429] }],
        ['block sees an IPv6 address that a key of the other copy reads', { blockIpv6: [403, 200, 403] }],
        ['allow sees the address that a key of the other copy reads', { allow: [200, 200, 200] }],
        ['addresses of a key of the other copy stay readable', { keys: ['{192.0.2.7}'] }],
        [
          'a StoreError of the other copy is a StoreError',
          { storeError: { isPassedAsItIs: true, isInstance: true, plainErrorIsInstance: false } },
        ],
        [
          'refund takes a decision of the other copy, and no copy of a decision',
          { refund: { afterCopy: 0, afterRefund: 1 } },
        ],
        ['forget takes a decision of the other copy', { afterForget: 1 }],
        [
          'adjustments takes a limiter of the other copy, and forgets an account alone',
          { afterAdjustments: [1, 0] },
        ],
        ['forget knows decisions of the other copy that no store made', { decisionsReadAsSubjects: 0 }],
        [
          'a memory store of the other copy is a memory store',
          { lease: expect.stringContaining('TypeError: leased: store must be shared by several processes') },
        ],
        ['limiters of one name on one store share their limits', { inCommon: [true, false] }],
        [
          'a second limiter without a name on a store is refused',
          { secondOnStore: expect.stringContaining('already serves a limiter without a name') },
        ],
        [
          'decisions are plain data',
          {
            decisions: [
              { jsonIsSpread: true, keys: data },
              { jsonIsSpread: true, keys: data },
            ],
            equalDecisions: true,
          },
        ],
      ])('%s', (_what, expected) => {
        expect(seen[direction]).toMatchObject(expected)
      })
    })
  })

  describe('the conformance suite of headgate/testing', () => {
    test('runs under node:test', async () => {
      const printed = await mustRun(
        process.execPath,
        ['--test', '--test-reporter=tap', 'store.test.mjs'],
        packed.project,
      )
      expect(Number(/^# pass (\d+)$/m.exec(printed)?.[1])).toBeGreaterThan(190)
    })
  })
})

describe('a server that uses it limits its clients, and ends', () => describeSamples(packed, NODES))

describe('a server that is one file', () => {
  const bundles = ['esbuild', 'rolldown'].flatMap((name) => [[name, 'cjs'] as const, [name, 'esm'] as const])
  describeBundles(packed, bundles, async () => ROOT)
})

describe('in the bundle of a Worker', () => describeBundleSizes(packed))
