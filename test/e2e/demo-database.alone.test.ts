import { startMariadb } from '../support/servers/mariadb.js'
import { startPostgres } from '../support/servers/postgres.js'
import { testSharedDemo } from './shared-demo.js'

jest.setTimeout(60_000)

const refused = [
  'mysql://user:password@127.0.0.1:3306',
  'mariadb://user:password@127.0.0.1:3306/name',
  'mysql://user:password@127.0.0.1:99999/name',
  'sqlite:///name',
  '127.0.0.1:3306',
]
const refusal =
  'DATABASE_URL must be an address such as mysql://user:password@127.0.0.1:3306/name, ' +
  'or postgres://user:password@127.0.0.1:5432/name.'

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
    refused,
    refusal,
  })
})
