import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import type { SqlServer } from './databases.js'
import { startPostgres } from './postgres.js'
import { describeSqlServer } from './sql-suite.js'

const server = describeSqlServer({
  start: startPostgres,
  variable: 'POSTGRES_URL',
  databases: "SELECT string_agg(datname, ',' ORDER BY 1) AS databases FROM pg_database",
  wrongArgs: ['-c', 'no_such_setting=1'],
  complaint: /^postgres did not start.*unrecognized configuration parameter "no_such_setting"/s,
})

test('PostgreSQL listens on loopback only, and commits do not wait for the disk', async () => {
  const settings = "SELECT current_setting('listen_addresses') AS host, current_setting('fsync') AS fsync"
  expect(await server().query(settings)).toEqual([{ host: '127.0.0.1', fsync: 'off' }])
})

test('startPostgres takes options, which come after its own', async () => {
  const small = await startPostgres({ args: ['-c', 'shared_buffers=8MB'] })
  try {
    expect(await small.query('SHOW shared_buffers')).toEqual([{ shared_buffers: '8MB' }])
  } finally {
    await small.stop()
  }
})

async function connectClient({ url }: SqlServer): Promise<Client> {
  const client = new Client(url)
  client.on('error', () => {}) // the server is stopped while it is connected
  await client.connect()
  return client
}

test('SIGSTOP holds the connections too, until SIGCONT', async () => {
  const client = await connectClient(server())
  try {
    await server().kill('SIGSTOP')
    const answer = client.query('SELECT 1 AS one').then(({ rows }) => rows)
    expect(await Promise.race([answer, pause(300, 'held')])).toBe('held')
    await server().kill('SIGCONT')
    expect(await answer).toEqual([{ one: 1 }])
  } finally {
    await client.end()
  }
})

test.each(['runs', 'is held by SIGSTOP'])('stopping a server that %s ends its connections', async (state) => {
  const left = await startPostgres({ own: true })
  const client = await connectClient(left)
  const ended = new Promise<void>((resolve) => client.once('end', resolve))
  if (state === 'is held by SIGSTOP') await left.kill('SIGSTOP')
  await left.stop()
  await ended
})

test('a server that is killed while its connections are busy comes back', async () => {
  const clients = await Promise.all(Array.from({ length: 8 }, () => connectClient(server())))
  const busy = clients.map((client) => client.query('SELECT pg_sleep(60)'))
  const rejected = Promise.allSettled(busy)
  await server().kill()
  await server().restart()
  expect((await rejected).map(({ status }) => status)).toEqual(busy.map(() => 'rejected'))
  expect(await server().query('SELECT 1 AS one')).toEqual([{ one: 1 }])
})
