import { startMemcached } from '../support/servers/memcached.js'
import { testSharedDemo } from './shared-demo.js'

jest.setTimeout(60_000)

testSharedDemo({
  server: 'memcached',
  variable: 'MEMCACHED_URL',
  start: () => startMemcached({ own: true }),
  async empty(server) {
    await server.command('flush_all')
    await server.command('stats reset')
  },
  async hasAllBack(server, logins) {
    const [taken] = /(?<=decr_hits )\d+/.exec(await server.command('stats')) ?? []
    return Number(taken) === 2 * logins
  },
  refused: [
    'memcached://127.0.0.1:11211',
    '127.0.0.1:port',
    '127.0.0.1:65536',
    '127.0.0.1:',
    'user@127.0.0.1',
    '127.0.0.1:11211,127.0.0.1:11212',
    '[::1]:11211',
  ],
  refusal: 'MEMCACHED_URL must be an address such as 127.0.0.1:11211, or user:password@host:port.',
})
