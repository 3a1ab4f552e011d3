import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import type { RedisServer } from '../../support/servers/redis-node.js'
import { startValkey } from '../../support/servers/valkey.js'
import { describeConformance } from './conformance.js'
import { DRIVERS } from './drivers.js'

let server: RedisServer

beforeAll(async () => {
  server = await startValkey()
}, INSTALL_TIMEOUT_MS)

afterAll(() => server?.stop())

describe('on Valkey, with a client of iovalkey', () => {
  describeConformance('redisStore', () => server.url, DRIVERS.iovalkey, 'sample')
})
