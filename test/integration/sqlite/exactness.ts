import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeOf } from '../../e2e/package/nodes.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import type { Extent } from '../../support/store-conformance.js'
import { describeStoreExactness } from '../../support/store-exactness.js'

/** The first Node.js that has node:sqlite. */
export const FIRST = '22'
const NO_WARNING = ['--disable-warning=ExperimentalWarning']

/** Defines the tests of processes that share a file. */
export function describeSqliteExactness(extent: Extent): void {
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

    describeStoreExactness(
      {
        startProcess: () =>
          fork(program.path, [join(folder, 'limits.db')], { execPath: node, execArgv: NO_WARNING }),
        capabilities: { atomicAcrossKeys: true },
        ...(extent === 'all' ? { callers: 20 } : { processes: 2 }),
      },
      extent,
    )
  })
}
