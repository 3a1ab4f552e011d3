import { startRedis } from '../support/servers/redis.js'
import { testSharedDemo } from './shared-demo.js'

jest.setTimeout(60_000)

testSharedDemo({
  server: 'Redis',
  variable: 'REDIS_URL',
  start: () => startRedis({ own: true }),
  empty: (server) => server.cli('FLUSHALL'),
  hasAllBack: async (server) => (await server.cli('DBSIZE')) === '0',
})
