import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bundleWorker } from './bundle-worker.js'
import { describeBundles, describePrograms } from './bundled.js'
import { describeSamples, LIMITED } from './describe-samples.js'
import { fetchPackages } from './fetched.js'
import { buildNextApp } from './next-app.js'
import { NODES, type NodeBinary, nodeOf, PROMISED } from './nodes.js'
import { usePackedProject } from './packed-project.js'
import { mustRun, ROOT } from './run.js'
import { compileSamples } from './samples.js'
import { type Checked, checkTypes } from './type-checks.js'
import { OF_OLDEST, SEPARATE, TOGETHER, VARIANTS } from './type-projects.js'
import { CURRENT, OLDER, OLDEST } from './typescripts.js'
import { visit } from './visit.js'

// The other versions of Node.js and TypeScript, and other runtimes, of which `npm test` tries one each.

jest.setTimeout(300_000)

const packed = usePackedProject()

async function runVitest(file: string): Promise<{ numPassedTests: number; success: boolean }> {
  const vitest = join(await fetchPackages('vitest', { vitest: '~3.2.4' }), 'node_modules/vitest') // for Node 20
  const link = join(packed.project, 'node_modules/vitest')
  if (!existsSync(link)) symlinkSync(vitest, link, 'dir')
  return JSON.parse(
    await mustRun(
      process.execPath,
      [join(vitest, 'vitest.mjs'), 'run', '--reporter=json', file],
      packed.project,
    ),
  )
}

describe('its types', () => {
  const older = OLDER.map(
    (version): Checked => [version, version === OLDEST ? [...TOGETHER, ...OF_OLDEST] : TOGETHER],
  )
  checkTypes(() => packed.tarball, [[CURRENT, [...SEPARATE, ...VARIANTS]], ...older])
})

describe('a server that uses it limits its clients, and ends', () => {
  const others = PROMISED.filter((major) => !NODES.includes(major))
  describeSamples(packed, others)
})

describe('the conformance suite of headgate/testing', () => {
  test('runs under node:test in CommonJS', async () => {
    const args = ['--test', '--test-reporter=tap', 'store.test.cjs']
    const printed = await mustRun(process.execPath, args, packed.project)
    expect(Number(/^# pass (\d+)$/m.exec(printed)?.[1])).toBeGreaterThan(190)
  })

  test('runs under Vitest', async () => {
    const { numPassedTests, success } = await runVitest('vitest.test.mjs')
    expect({ success, passed: numPassedTests > 190 }).toEqual({ success: true, passed: true })
  })
})

test('limiters decide under the fake timers of Vitest', async () => {
  expect(await runVitest('vitest-fakes.test.mjs')).toMatchObject({ success: true, numPassedTests: 3 })
})

test.each([
  ['deno', '2.2.0', ['run', '-A']],
  ['bun', '1.1.34', []],
])(
  'headgate/fetch limits by IP address in %s %s, the least version that the docs name',
  async (name, version, args) => {
    const docs = readFileSync(join(ROOT, 'docs/fetch.md'), 'utf8')
    expect(docs).toMatch(new RegExp(`^\\| ${name} ${version.replace(/\.0$/, '')} `, 'im'))
    const folder = await fetchPackages(`${name}-${version}`, { [name]: version })
    const program = join(folder, 'node_modules/.bin', name)
    expect(JSON.parse(await mustRun(program, [...args, 'runtime.mjs'], packed.project))).toEqual({
      seen: [
        [200, '1'],
        [200, '0'],
        [429, '0'],
      ],
      addresses: ['127.0.0.1'],
    })
  },
)

test('the route handler of samples/ limits its clients in an application of Next.js', async () => {
  const { folder } = await compileSamples(packed)
  const app = await buildNextApp(packed, join(folder, 'next-route.js'))
  try {
    expect(await visit(process.execPath, app.args, app.folder)).toEqual(LIMITED)
  } finally {
    rmSync(app.folder, { recursive: true })
  }
})

describe('a server that is one file', () => {
  const bundlers = ['webpack', 'rspack', 'rollup', 'vite', 'ncc', 'bun', 'parcel']
  const bundles = bundlers.flatMap((name) => [[name, 'cjs'] as const, [name, 'esm'] as const])
  describeBundles(packed, bundles, () =>
    fetchPackages('bundlers', {
      webpack: '5.113.0',
      '@rspack/core': '2.3.3',
      rollup: '4.68.8',
      '@rollup/plugin-node-resolve': '16.0.3',
      '@rollup/plugin-commonjs': '29.0.3',
      '@rollup/plugin-json': '6.1.0',
      vite: '8.4.0',
      '@vercel/ncc': '0.45.0',
      bun: '1.4.5',
      parcel: '2.16.4',
    }),
  )
})

describe('a server that is one program', () => describePrograms(packed))

describe('in the runtime of Cloudflare Workers', () => {
  let node: NodeBinary
  beforeAll(async () => {
    node = await nodeOf(PROMISED.at(-1) as string) // Miniflare needs Node 22
    const fetched = await fetchPackages('miniflare', { miniflare: '4.20260730.0' })
    symlinkSync(
      join(fetched, 'node_modules/miniflare'),
      join(packed.project, 'node_modules/miniflare'),
      'dir',
    )
    await bundleWorker(packed.project, 'worker.mjs')
  })

  test.each([
    ['2026-07-30', 'the one of this Miniflare'],
    ['2024-09-23', 'the first with what nodejs_compat has of Node.js'],
  ])('headgate/fetch limits in memory as of %s, %s', async (date) => {
    const seen = JSON.parse(await mustRun(node.path, ['workers.mjs', date], packed.project))
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
