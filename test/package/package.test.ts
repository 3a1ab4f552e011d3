import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Case, testTogether } from '../servers/together.js'
import { canFetch, MAJORS, type NodeBinary, nodeOf } from './nodes.js'
import { installInto, packCopy } from './packed.js'
import { mustRun, ROOT, run } from './run.js'

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
function fetched(major: string): Promise<NodeBinary> {
  const node = nodes.get(major) ?? nodeOf(major)
  nodes.set(major, node)
  return node
}

const bin = (name: string) => join(ROOT, 'node_modules/.bin', name)
const outputOf = async (command: string, args: readonly string[]) => {
  const { code, stdout, stderr } = await run(command, args, project)
  return { code, output: `${stdout}${stderr}`.trim() }
}

test('the tarball holds the build, its papers and nothing else', async () => {
  const files = (await mustRun('tar', ['-tzf', tarball], project)).trim().split('\n')
  const outside = files.filter((file) => !/^package\/dist\/(esm|cjs)\/.*\.(js|d\.ts|json)$/.test(file))
  const papers = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'].map((name) => `package/${name}`)
  expect(outside.sort()).toEqual(papers)
  for (const format of ['esm', 'cjs']) {
    expect(files).toContain(`package/dist/${format}/index.js`)
    expect(files).toContain(`package/dist/${format}/index.d.ts`)
  }
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

  describe.each(MAJORS)('on Node %s', (major) => {
    async function limits({ file, prepare, servers }: (typeof consumers)[number]): Promise<void> {
      const node = await fetched(major)
      await prepare()
      const output = await mustRun(node.path, ['--trace-deprecation', file], project)
      const statuses = Array(servers).fill('200 200 429').join(', ')
      expect(output.trim()).toMatch(new RegExp(`^v${major}\\.\\d+\\.\\d+ ${statuses}$`))
    }

    const cases = consumers.map((each): Case => [`${each.file} limits its callers`, () => limits(each)])
    testTogether(cases, { atOnce: 2, timeoutMs: 300_000 })
  })
})
