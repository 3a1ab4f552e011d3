import { readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Case, testTogether } from '../../support/servers/together.js'
import { ENTRIES } from './entries.js'
import { fetchPackages } from './fetched.js'
import { canFetch, MAJORS, type NodeBinary, nodeOf } from './nodes.js'
import { installInto, packCopy } from './packed.js'
import { mustRun, ROOT, run } from './run.js'
import { checkTypes } from './type-checks.js'

jest.setTimeout(300_000)

let tarball: string
let project: string

beforeAll(async () => {
  if (!canFetch()) {
    const { platform, arch, version } = process
    console.warn(`Only Node ${version} tries the package: ${platform}-${arch} is not linux-x64.`)
  }
  tarball = await packCopy()
  project = await installInto(tarball)
})

afterAll(() => {
  for (const folder of [project, tarball && dirname(tarball)]) {
    if (folder) rmSync(folder, { recursive: true, force: true })
  }
})

const nodes = new Map<string, Promise<NodeBinary>>()

/** A Node.js of this major, which is fetched at most once. */
function fetchNode(major: string): Promise<NodeBinary> {
  const node = nodes.get(major) ?? nodeOf(major)
  nodes.set(major, node)
  return node
}

/** The files of the dashboard's page. */
const PAGE = [...readdirSync(join(ROOT, 'src/dashboard/page')), 'uPlot.esm.js', 'uPlot.min.css']

const bin = (name: string) => join(ROOT, 'node_modules/.bin', name)
const outputOf = async (command: string, args: readonly string[]) => {
  const { code, stdout, stderr } = await run(command, args, project)
  return { code, output: `${stdout}${stderr}`.trim() }
}

test('the tarball holds the build, its documents and nothing else', async () => {
  const files = (await mustRun('tar', ['-tzf', tarball], project)).trim().split('\n')
  const bundles = [...ENTRIES.map(({ name }) => name), 'core', 'shared']
  const built = bundles.flatMap((name) => [`${name}.js`, `${name}.d.ts`])
  const expected = [
    ...['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', 'dist/THIRD-PARTY-LICENSES.txt'],
    'dist/esm/cli.js',
    ...PAGE.map((file) => `dist/page/${file}`),
    ...['esm', 'cjs'].flatMap((format) => [...built, 'package.json'].map((file) => `dist/${format}/${file}`)),
  ]
  expect(files.sort()).toEqual(expected.map((file) => `package/${file}`).sort())
})

test('the tarball has the licenses of the packages that it bundles', async () => {
  const licenses = await mustRun('tar', ['-xzOf', tarball, 'package/dist/THIRD-PARTY-LICENSES.txt'], project)
  const names = Array.from(licenses.matchAll(/^([\w.-]+) \d+\.\d+\.\d+$/gm), ([, name]) => name)
  expect(names).toEqual(
    expect.arrayContaining(['fast-check', 'ipaddr.js', 'ms', 'negotiator', 'proxy-addr', 'uplot']),
  )
})

test.each(ENTRIES)(
  '$specifier loads its own bundle, and what entries share: no other entry',
  async (entry) => {
    const load = `require('${entry.specifier}'); console.log(JSON.stringify(Object.keys(require.cache)))`
    const loaded: string[] = JSON.parse(await mustRun(process.execPath, ['--eval', load], project))
    const bundles = loaded.map((file) => file.replace(/^.*\/node_modules\/headgate\/dist\/cjs\//, ''))
    const ofStores = ['redis', 'memcached', 'mysql', 'postgres', 'sqlite', 'dashboard'].includes(entry.name)
    const shared = ofStores ? ['core.js', 'shared.js'] : ['core.js']
    expect(bundles.sort()).toEqual([`${entry.name}.js`, ...shared].sort())
  },
)

test('npx headgate runs the command', async () => {
  const { code, output } = await outputOf(join(project, 'node_modules/.bin/headgate'), ['replay', '--help'])
  expect(output).toMatch(/^Usage: headgate replay/)
  expect(code).toBe(0)
})

test("require('headgate/express-rate-limit') returns the function, with the other exports on it", async () => {
  const load =
    "const limit = require('headgate/express-rate-limit'); console.log(typeof limit({}), Object.keys(limit))"
  const printed = await mustRun(process.execPath, ['--eval', load], project)
  expect(printed).toContain('function')
  for (const name of ['MemoryStore', 'default', 'ipKeyGenerator', 'rateLimit'])
    expect(printed).toContain(name)
})

test('types name no package but frameworks, and only those for their applications name one', async () => {
  const folder = join(project, 'node_modules/headgate/dist/esm')
  const naming = readdirSync(folder)
    .filter((file) => file.endsWith('.d.ts'))
    .flatMap((file) => {
      const types = readFileSync(join(folder, file), 'utf8')
      const names = Array.from(types.matchAll(/(?:from |import\(|types=)"([^"]+)"/g), ([, name = '']) => name)
      return names.filter((name) => !/^(node:|\.\/)/.test(name)).map((name) => `${file}: ${name}`)
    })
  expect(naming).toEqual([
    'express-rate-limit.d.ts: express',
    'fastify.d.ts: fastify',
    'index.d.ts: express',
    'koa.d.ts: koa',
  ])
})

test('publint finds nothing', async () => {
  const { code, output } = await outputOf(bin('publint'), ['run', tarball, '--strict'])
  expect(output).toMatch(/All good!$/)
  expect(code).toBe(0)
})

test('the types are right for every way to resolve them', async () => {
  const { code, output } = await outputOf(bin('attw'), [tarball, '--no-definitely-typed', '--format', 'json'])
  expect(JSON.parse(output)).toMatchObject({ analysis: { packageName: 'headgate', problems: [] } })
  expect(code).toBe(0)
})

describe('its types', () => checkTypes(() => tarball))

describe('in another project', () => {
  let bundling: Promise<string> | undefined
  const compiled = new Map<string, Promise<string>>()

  /** Type-checks with all library types, once; emits where the configuration says so. */
  function compile(config: string): Promise<string> {
    const known = compiled.get(config) ?? mustRun(bin('tsc'), ['-p', config, '--pretty', 'false'], project)
    compiled.set(config, known)
    return known
  }

  function bundle(): Promise<string> {
    const external = ['express', 'connect', './statuses.cjs'].map((name) => `--external:${name}`)
    const flags = ['--bundle', '--platform=node', '--format=esm', ...external]
    bundling ??= mustRun(bin('esbuild'), ['typed.mts', ...flags, '--outfile=bundled.mjs'], project)
    return bundling
  }

  test.each(['tsconfig.json', 'tsconfig.bundler.json'])('TypeScript takes it under %s', async (config) => {
    await expect(compile(config)).resolves.toBe('')
  })

  const consumers = [
    { file: 'server.mjs', prepare: () => undefined, servers: 1 },
    { file: 'server.cjs', prepare: () => undefined, servers: 1 },
    { file: 'typed.mjs', prepare: () => compile('tsconfig.json'), servers: 2 },
    { file: 'typed.cjs', prepare: () => compile('tsconfig.json'), servers: 1 },
    { file: 'bundled.mjs', prepare: bundle, servers: 2 },
  ]

  describe('where it is imported and required in one process', () => {
    let seen: Record<string, unknown>
    beforeAll(async () => {
      seen = JSON.parse(await mustRun(process.execPath, ['both.mjs'], project))
    })

    test('there are two copies of it', () => {
      expect(seen).toMatchObject({ copies: 2 })
    })

    describe.each(['requiredInImported', 'importedInRequired'])('%s', (direction) => {
      const data = 'allowed,limit,moreAfterMs,parts,policy,remaining,resetAfterMs,retryAfterMs,source'

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
        ['forget knows decisions of the other copy that no store made', { decisionsReadAsSubjects: 0 }],
        [
          'a memory store of the other copy is a memory store',
          { lease: expect.stringContaining('TypeError: createLimiter: lease requires a shared store') },
        ],
        ['limiters of one name without a store share their limits', { inCommon: [true, false] }],
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
    test.each(['store.test.mjs', 'store.test.cjs'])('runs under node:test: %s', async (file) => {
      const printed = await mustRun(process.execPath, ['--test', '--test-reporter=tap', file], project)
      expect(Number(/^# pass (\d+)$/m.exec(printed)?.[1])).toBeGreaterThan(190)
    })

    test('runs under Vitest', async () => {
      const vitest = join(await fetchPackages('vitest', { vitest: '~3.2.4' }), 'node_modules/vitest') // for Node 20
      symlinkSync(vitest, join(project, 'node_modules/vitest'), 'dir')
      const args = [join(vitest, 'vitest.mjs'), 'run', '--reporter=json', 'vitest.test.mjs']
      const { numPassedTests, success } = JSON.parse(await mustRun(process.execPath, args, project))
      expect({ success, passed: numPassedTests > 190 }).toEqual({ success: true, passed: true })
    })
  })

  describe('in the runtime of Cloudflare Workers', () => {
    let node: NodeBinary
    beforeAll(async () => {
      node = await fetchNode(MAJORS.at(-1) as string) // Miniflare needs Node 22
      const fetched = await fetchPackages('miniflare', { miniflare: '4.20260730.0' })
      symlinkSync(join(fetched, 'node_modules/miniflare'), join(project, 'node_modules/miniflare'), 'dir')
      const flags = ['--bundle', '--format=esm', '--conditions=workerd,worker,browser', '--external:node:*']
      await mustRun(bin('esbuild'), ['worker.mjs', ...flags, '--outfile=worker-bundled.mjs'], project)
    })

    test.each([
      ['2026-07-30', 'the one of this Miniflare'],
      ['2024-09-23', 'the first with what nodejs_compat has of Node.js'],
    ])('headgate/fetch limits in memory as of %s, %s', async (date) => {
      const seen = JSON.parse(await mustRun(node.path, ['workers.mjs', date], project))
      expect(seen).toEqual({
        headers: {
          'ratelimit-policy': '"2-in-1min";q=2;w=60',
          ratelimit: '"2-in-1min";r=1;t=30',
          'x-ratelimit-limit': '2',
          'x-ratelimit-remaining': '1',
          'x-ratelimit-reset': expect.any(String),
        },
        resetsInSeconds: expect.closeTo(30, -1),
        limited: [200, 429, 200],
        retryAfter: expect.stringMatching(/^(2\d|30)$/),
        failures: [200, 200, 401, 401, 429],
        inFlight: [200, 200],
        redirect: '1',
        unknown: [200, 200, 429],
        warnings: ['HEADGATE_NO_ADDRESS'],
      })
    })
  })

  describe.each(MAJORS)('on Node %s', (major) => {
    async function limits({ file, prepare, servers }: (typeof consumers)[number]): Promise<void> {
      const node = await fetchNode(major)
      await prepare()
      const output = await mustRun(node.path, ['--trace-deprecation', file], project)
      const statuses = Array(servers).fill('200 200 429').join(', ')
      expect(output.trim()).toMatch(new RegExp(`^v${major}\\.\\d+\\.\\d+ ${statuses}$`))
    }

    const cases = consumers.map((each): Case => [`${each.file} limits its callers`, () => limits(each)])
    testTogether(cases, { atOnce: 2, timeoutMs: 300_000 })
  })
})
