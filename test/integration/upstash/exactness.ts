import { fork } from 'node:child_process'
import { join } from 'node:path'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import type { Extent } from '../../support/store-conformance.js'
import { describeStoreExactness } from '../../support/store-exactness.js'
import { useUpstash } from './use-upstash.js'

/** Defines the tests of so many processes that share a database of Upstash, each with so many callers. */
export function describeUpstashExactness(extent: Extent, processes: number, callers: number): void {
  const used = useUpstash()
  let program: Bundle

  beforeAll(async () => {
    program = await bundle(join(__dirname, 'store-process.ts'))
  }, INSTALL_TIMEOUT_MS)
  afterAll(() => program?.remove())

  describeStoreExactness(
    {
      startProcess: () => fork(program.path, [used.rest.url, used.rest.token]),
      capabilities: { atomicAcrossKeys: true },
      processes,
      callers,
      charges: 5,
      timeout: '1m',
    },
    extent,
  )
}
