import { fork } from 'node:child_process'
import { join } from 'node:path'
import { dynamodbStore } from 'headgate/dynamodb'
import { storeExactness } from 'headgate/testing'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { describeStoreExactness } from '../../support/store-exactness.js'
import { type Dynalite, startDynalite } from './dynalite.js'
import { openClient } from './open.js'

jest.setTimeout(600_000)

const table = 'exactness'
let server: Dynalite
let program: Bundle
beforeAll(async () => {
  server = await startDynalite()
  program = await bundle(join(__dirname, 'store-process.ts'))
  const client = openClient(server.folder, server.port)
  await dynamodbStore(client, { table }).prepare()
  client.destroy()
})
afterAll(async () => {
  await program.remove()
  await server.stop()
})

const setup = {
  startProcess: () =>
    fork(program.path, [server.folder, String(server.port), table], { execArgv: [], silent: true }),
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
