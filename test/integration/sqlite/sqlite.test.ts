import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeExactness } from 'headgate/testing'
import { nodeOf } from '../../e2e/package/nodes.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { passesOn } from './node-test.js'

jest.setTimeout(300_000)

/** The first Node.js that has node:sqlite. */
const FIRST = '22'
const NO_WARNING = ['--disable-warning=ExperimentalWarning']

describe.each(['conformance', 'durability', 'failures'])('%s', (name) => {
  test(`passes on Node ${FIRST}`, () => passesOn(FIRST, name))
})

describe('several processes with one file', () => {
  let folder: string
  let program: Bundle
  let node: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-sqlite-'))
    program = await bundle(join(__dirname, 'store-process.ts'))
    node = (await nodeOf(FIRST)).path
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
