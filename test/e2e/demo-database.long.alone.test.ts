import { startMariadb } from '../support/servers/mariadb.js'
import { startPostgres } from '../support/servers/postgres.js'
import { testSharedDemo } from './shared-demo.js'

describe.each([
  ['MySQL', () => startMariadb({ own: true })],
  ['PostgreSQL', () => startPostgres({ own: true })],
])('in %s', (name, start) => {
  testSharedDemo({
    server: name,
    variable: 'DATABASE_URL',
    start,
    empty: (server) => server.query('DELETE FROM headgate'),
    hasAllBack: async (server) => (await server.query('SELECT 1 FROM headgate')).length === 0,
  })
})
