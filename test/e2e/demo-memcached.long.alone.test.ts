import { startMemcached } from '../support/servers/memcached.js'
import { testSharedDemo } from './shared-demo.js'

testSharedDemo({
  server: 'memcached',
  variable: 'MEMCACHED_URL',
  start: () => startMemcached({ own: true }),
  async empty(server) {
    await server.command('flush_all')
    await server.command('stats reset')
  },
  // What stays is the store's own item, by which it notices evictions.
  hasAllBack: async (server) => /curr_items [01]\s/.test(await server.command('stats')),
})
