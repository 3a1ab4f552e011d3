import { fork } from 'node:child_process'
import { join } from 'node:path'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import type { Extent } from '../../support/store-conformance.js'
import { describeStoreExactness } from '../../support/store-exactness.js'
import { useUpstash } from './use-upstash.js'

/** Defines the tests of processes that share a database of Upstash. */
export function describeUpstashExactness(extent: Extent): void {
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
      ...(extent === 'sample' && { processes: 2, callers: 20, charges: 5 }),
      timeout: '1m',
    },
    extent,
  )
}
