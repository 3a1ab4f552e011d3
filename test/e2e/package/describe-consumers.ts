import { type Case, testTogether } from '../../support/servers/together.js'
import { nodeOf } from './nodes.js'
import { bin, type PackedProject } from './packed-project.js'
import { mustRun } from './run.js'

/** A program of `consumers/`. */
interface Consumer {
  readonly file: string
  readonly prepare?: () => Promise<unknown>
  readonly servers: number
}

/** Has programs that use the package limit their callers, on several versions of Node.js. */
export function describeConsumers(packed: PackedProject, majors: readonly string[]): void {
  let bundling: Promise<string> | undefined
  let compiling: Promise<string> | undefined

  /** Type-checks with all library types, and emits. */
  function compile(): Promise<string> {
    const flags = ['-p', 'tsconfig.json', '--pretty', 'false', '--singleThreaded']
    compiling ??= mustRun(bin('tsc'), flags, packed.project)
    return compiling
  }

  function bundle(): Promise<string> {
    const external = ['express', 'connect', './statuses.cjs'].map((name) => `--external:${name}`)
    const flags = ['--bundle', '--platform=node', '--format=esm', ...external]
    bundling ??= mustRun(bin('esbuild'), ['typed.mts', ...flags, '--outfile=bundled.mjs'], packed.project)
    return bundling
  }

  const consumers: readonly Consumer[] = [
    { file: 'server.mjs', servers: 1 },
    { file: 'server.cjs', servers: 1 },
    { file: 'typed.mjs', prepare: compile, servers: 2 },
    { file: 'typed.cjs', prepare: compile, servers: 1 },
    { file: 'bundled.mjs', prepare: bundle, servers: 2 },
  ]

  test('TypeScript takes it under tsconfig.json', async () => {
    await expect(compile()).resolves.toBe('')
  })

  describe.each(majors)('on Node %s', (major) => {
    async function limits({ file, prepare, servers }: Consumer): Promise<void> {
      const node = await nodeOf(major)
      await prepare?.()
      const output = await mustRun(node.path, ['--trace-deprecation', file], packed.project)
      const statuses = Array(servers).fill('200 200 429').join(', ')
      expect(output.trim()).toMatch(new RegExp(`^v${major}\\.\\d+\\.\\d+ ${statuses}$`))
    }

    const cases = consumers.map((each): Case => [`${each.file} limits its callers`, () => limits(each)])
    testTogether(cases, { atOnce: 2, timeoutMs: 300_000 })
  })
}
