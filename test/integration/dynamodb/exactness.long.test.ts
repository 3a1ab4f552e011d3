import { fork } from 'node:child_process'
import { join } from 'node:path'
import { storeExactness } from 'headgate/testing'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { describeStoreExactness } from '../../support/store-exactness.js'
import { TABLE, useDynalite } from './use-dynalite.js'

jest.setTimeout(600_000)

const tables = useDynalite()
let program: Bundle
beforeAll(async () => {
  program = await bundle(join(__dirname, 'store-process.ts'))
})
afterAll(() => program?.remove())

const setup = {
  startProcess: () =>
    fork(program.path, [tables.server.folder, `${tables.server.port}`, TABLE], {
      execArgv: [],
      silent: true,
    }),
  capabilities: { atomicAcrossKeys: false },
  processes: 4,
  timeout: 300_000,
}

describe('several processes with one table of DynamoDB', () => {
  describeStoreExactness({ ...setup, callers: 5 }, 'sample')

  const oneKey = storeExactness({ ...setup, callers: 50, charges: 20 }).filter(({ name }) =>
    name.includes('limit of one key'),
  )
  test.each(oneKey.slice(0, 2))('of 4000 charges, $name', ({ run }) => run())
})
