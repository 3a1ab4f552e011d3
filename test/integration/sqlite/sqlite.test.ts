import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeExactness } from 'headgate/testing'
import { MAJORS, nodeOf } from '../../e2e/package/nodes.js'
import { ROOT, run } from '../../e2e/package/run.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'

jest.setTimeout(300_000)

/** The versions of Node.js that have node:sqlite. The tests for them run there, under node:test. */
const WITH_SQLITE = MAJORS.filter((major) => Number(major) >= 22)
const NO_WARNING = ['--disable-warning=ExperimentalWarning']

test('there is a Node.js to test on', () => {
  expect(WITH_SQLITE).not.toEqual([])
})

describe.each(WITH_SQLITE)('on Node %s', (major) => {
  const parts =
    major === WITH_SQLITE[0] ? ['conformance', 'durability', 'failures'] : ['durability', 'failures']
  test.each(parts)('%s', async (name) => {
    const { path } = await nodeOf(major)
    const flags = ['--import', 'tsx', '--test', '--test-reporter', 'tap']
    const { stdout } = await run(path, [...flags, join(__dirname, `${name}.ts`)], ROOT)
    expect(stdout.match(/^not ok[\s\S]*?\n {2}\.\.\.$/gm) ?? []).toEqual([])
    expect(stdout).toMatch(/^# pass [1-9]\d*\n# fail 0$/m)
  })
})

describe('several processes with one file', () => {
  let folder: string
  let program: Bundle
  let node: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-sqlite-'))
    program = await bundle(join(__dirname, 'store-process.ts'))
    node = (await nodeOf(WITH_SQLITE[0] as string)).path
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await program.remove()
  })

  const cases = storeExactness({
    startProcess: () =>
      fork(program.path, [join(folder, 'limits.db')], { execPath: node, execArgv: NO_WARNING }),
    capabilities: { atomicAcrossKeys: true },
  })
  for (const { name, run } of cases) test(name, run)
})
