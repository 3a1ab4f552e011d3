import { fork } from 'node:child_process'
import { join } from 'node:path'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import type { Extent } from '../../support/store-conformance.js'
import { describeStoreExactness } from '../../support/store-exactness.js'
import { TABLE, useDynalite } from './use-dynalite.js'

/** Defines the tests of processes that share a table. */
export function describeDynamodbExactness(extent: Extent): void {
  const tables = useDynalite()
  let program: Bundle

  beforeAll(async () => {
    program = await bundle(join(__dirname, 'store-process.ts'))
  }, INSTALL_TIMEOUT_MS)
  afterAll(() => program?.remove())

  const setup = {
    startProcess() {
      const { folder, port } = tables.server
      return fork(program.path, [folder, `${port}`, TABLE], { execArgv: [], silent: true })
    },
    capabilities: { atomicAcrossKeys: false },
  }
  if (extent === 'all') describeStoreExactness(setup, extent)
  else {
    const few = { ...setup, processes: 2, callers: 5, charges: 2 }
    describeStoreExactness({ ...few, timeout: '1m' }, extent, (name) => /one key|opposite/.test(name))
  }
}
