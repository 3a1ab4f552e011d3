import { fork } from 'node:child_process'
import { join } from 'node:path'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import type { Extent } from '../../support/store-conformance.js'
import { describeStoreExactness } from '../../support/store-exactness.js'
import { ISOLATES, startWorkers, type Workers } from './start.js'

/** Defines the tests of isolates that share the objects. Each process of Node.js has an isolate that charges for it. */
export function describeObjectsExactness(extent: Extent): void {
  let workers: Workers
  let program: Bundle

  beforeAll(async () => {
    workers = await startWorkers()
    program = await bundle(join(__dirname, 'store-process.ts'))
  }, 120_000)
  afterAll(async () => {
    await program?.remove()
    await workers?.running.close()
  })

  describeStoreExactness(
    {
      startProcess: (i) => fork(program.path, [`${workers.running.url}/operations?isolate=${i % ISOLATES}`]),
      capabilities: { atomicAcrossKeys: false },
      ...(extent === 'sample' && { processes: 2, callers: 20, charges: 5 }),
      timeout: '1m',
    },
    extent,
  )
}
