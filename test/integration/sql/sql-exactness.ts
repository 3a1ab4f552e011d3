import { fork } from 'node:child_process'
import { join } from 'node:path'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import type { Extent } from '../../support/store-conformance.js'
import { describeStoreExactness } from '../../support/store-exactness.js'
import { childArgs } from './open-in-child.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

/** How many charge at the same time. */
const LOADS = {
  all: {},
  sample: { processes: 2, callers: 50, charges: 2 },
} as const

/** Defines the tests of processes that share a database. */
export function describeSqlExactness(extent: Extent): void {
  let program: Bundle

  beforeAll(async () => {
    program = await bundle(join(__dirname, 'store-process.ts'))
  })

  afterAll(() => program?.remove())

  describe.each(DATABASES)('on %s', (_name, kind) => {
    const database = setUpDatabase(kind)
    let table: string

    beforeAll(async () => {
      table = await database.makeTable()
    })

    describeStoreExactness(
      {
        startProcess: () => fork(program.path, childArgs(kind, database.server.url, table)),
        capabilities: { atomicAcrossKeys: true },
        ...LOADS[extent],
      },
      extent,
    )
  })
}
