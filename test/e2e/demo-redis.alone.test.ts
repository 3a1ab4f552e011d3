import { startRedis } from '../support/servers/redis.js'
import { testSharedDemo } from './shared-demo.js'

jest.setTimeout(60_000)

testSharedDemo({
  server: 'Redis',
  variable: 'REDIS_URL',
  start: () => startRedis({ own: true }),
  empty: (server) => server.cli('FLUSHALL'),
  hasAllBack: async (server) => (await server.cli('DBSIZE')) === '0',
  refused: [
    'localhost:6379',
    'http://127.0.0.1:6379',
    'redis://',
    'redis://127.0.0.1:port',
    'redis://127.0.0.1/one',
  ],
  refusal: 'REDIS_URL must be an address such as redis://127.0.0.1:6379, or rediss://... for TLS.',
})
