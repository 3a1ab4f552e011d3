import { fork } from 'node:child_process'
import { join } from 'node:path'
import { storeExactness } from 'headgate/testing'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { childArgs } from './open-in-child.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

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
  }, 60_000)

  const cases = storeExactness({
    startProcess: () => fork(program.path, childArgs(kind, database.server.url, table)),
    capabilities: { atomicAcrossKeys: true },
    callers: 200,
    charges: 2,
  })
  for (const { name, run } of cases) test(name, run)
})
