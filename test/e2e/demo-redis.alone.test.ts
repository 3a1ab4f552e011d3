import { startRedis } from '../support/servers/redis.js'
import { testSharedDemo } from './shared-demo.js'

/** The documents that limiters with a name publish, after their first charge or later. */
const DOCUMENT = /^hg:limits:/

testSharedDemo({
  server: 'Redis',
  variable: 'REDIS_URL',
  start: () => startRedis({ own: true }),
  empty: (server) => server.cli('FLUSHALL'),
  hasAllBack: async (server) => {
    const keys = (await server.cli('KEYS', '*')).split('\n')
    return keys.every((key) => key === '' || DOCUMENT.test(key))
  },
})
