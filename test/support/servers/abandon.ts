import { startMariadb } from './mariadb.js'
import { startMemcached } from './memcached.js'
import { startPostgres } from './postgres.js'
import { startRedis } from './redis.js'

// Starts a server, prints its port, and never stops it. Arguments: which server, and how this process ends.
const STARTERS = {
  mariadb: startMariadb,
  memcached: startMemcached,
  postgres: startPostgres,
  redis: startRedis,
}
const [kind, ending] = process.argv.slice(2)
const { port } = await STARTERS[kind as keyof typeof STARTERS]({ own: true })
process.stdout.write(`${port}\n`)
if (ending === 'leave') process.exit(0)
if (ending === 'throw') throw new Error('nobody stops the server')
if (ending === 'hang') setInterval(() => {}, 1000)
