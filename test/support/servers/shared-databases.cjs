const { register } = require('tsx/cjs/api')

/**
 * Starts one MariaDB and one PostgreSQL for the whole run, before the tests that use databases: a server for
 * each file takes more time than most of these tests. Where one cannot be installed, the tests say so.
 */
module.exports = async () => {
  register()
  const { startMariadb } = require('./mariadb.ts')
  const { startPostgres } = require('./postgres.ts')
  const share = async (variable, start) => {
    if (process.env[variable]) return []
    const server = await start({ own: true }).catch(() => undefined)
    if (server === undefined) return []
    process.env[`HEADGATE_TESTS_${variable}`] = server.url
    return [server]
  }
  const servers = await Promise.all([share('MYSQL_URL', startMariadb), share('POSTGRES_URL', startPostgres)])
  globalThis.sharedDatabases = servers.flat()
}
