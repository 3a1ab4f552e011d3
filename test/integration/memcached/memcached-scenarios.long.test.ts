import { fork } from 'node:child_process'
import { join } from 'node:path'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { describeStoreExactness } from '../../support/store-exactness.js'

let server: MemcachedServer
let program: Bundle

beforeAll(async () => {
  server = await startMemcached()
  program = await bundle(join(__dirname, 'store-process.ts'))
}, INSTALL_TIMEOUT_MS)
afterAll(async () => {
  await program?.remove()
  await server?.stop()
})

describeStoreExactness(
  { startProcess: () => fork(program.path, [server.url]), capabilities: { atomicAcrossKeys: false } },
  'all',
)
