import { Redis } from 'ioredis'
import { INSTALL_TIMEOUT_MS } from './install.js'
import { nameServer } from './name-server.js'
import { type RedisServer, startRedis } from './redis.js'

let server: RedisServer

beforeAll(async () => {
  server = await startRedis({ own: true })
}, INSTALL_TIMEOUT_MS)

afterAll(() => server?.stop())

test('a single server answers', async () => {
  const client = new Redis(server.url)
  try {
    expect(await client.ping()).toBe('PONG')
  } finally {
    client.disconnect()
  }
})

test('Redis keeps nothing on disk and listens on loopback only', async () => {
  const settings = await server.cli('CONFIG', 'GET', 'save', 'appendonly', 'bind')
  const lines = settings.split('\n')
  const value = (name: string) => lines[lines.indexOf(name) + 1]
  expect([value('save'), value('appendonly'), value('bind')]).toEqual(['', 'no', '127.0.0.1'])
})

test('startRedis takes options', async () => {
  const small = await startRedis({ args: ['--maxmemory', '3mb'] })
  try {
    expect(await small.cli('CONFIG', 'GET', 'maxmemory')).toBe('maxmemory\n3145728')
  } finally {
    await small.stop()
  }
})

test('an error reply rejects with its text', async () => {
  await expect(server.cli('NO-SUCH-COMMAND')).rejects.toThrow('ERR unknown command')
})

describe('if REDIS_URL names a server,', () => {
  nameServer('REDIS_URL', () => server.url)

  test('each start gets an empty database of its own, which is empty again afterwards', async () => {
    const [first, second] = await Promise.all([startRedis(), startRedis()])
    expect([first.port, second.port]).toEqual([server.port, server.port])
    await first.cli('SET', 'key', 'value')
    expect([await first.cli('DBSIZE'), await second.cli('DBSIZE')]).toEqual(['1', '0'])
    await Promise.all([first.stop(), second.stop(), first.stop()])
    expect(await server.cli('INFO', 'keyspace')).not.toContain('keys=')
  })

  test('a database that holds data is left alone', async () => {
    await server.cli('-n', 1, 'SET', 'precious', 'data')
    const given = await startRedis()
    await given.stop()
    expect(new URL(given.url).pathname).toBe('/2')
    expect(await server.cli('-n', 1, 'GET', 'precious')).toBe('data')
    await server.cli('-n', 1, 'DEL', 'precious')
  })

  test('that server is neither killed nor restarted', async () => {
    const given = await startRedis()
    await expect(given.kill()).rejects.toThrow('Use startRedis({ own: true })')
    await expect(given.restart()).rejects.toThrow('Use startRedis({ own: true })')
    await given.stop()
    expect(await server.cli('PING')).toBe('PONG')
  })

  test('a test that needs its own server gets one', async () => {
    const own = await startRedis({ own: true })
    expect(own.port).not.toBe(server.port)
    await own.stop()
  })
})
