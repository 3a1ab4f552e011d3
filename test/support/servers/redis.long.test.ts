import { Redis } from 'ioredis'
import { INSTALL_TIMEOUT_MS } from './install.js'
import { nameServer } from './name-server.js'
import { type RedisServer, startRedis } from './redis.js'
import { redisText } from './redis-command.js'
import { until } from './wait.js'

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

test('a command has its reply as text, one line per element', async () => {
  expect(await server.cli('SET', 'key', 'a\r\nü')).toBe('OK')
  expect(await server.cli('GET', 'key')).toBe('a\r\nü')
  expect(await server.cli('EVAL', "return { 1, { 'two', false }, {} }", 0)).toBe('1\ntwo\n')
  expect(await server.cli('KEYS', 'none*')).toBe('')
  const large = 'x'.repeat(2 ** 20)
  await server.cli('SET', 'key', large)
  expect(await server.cli('GET', 'key')).toBe(large)
  await server.cli('DEL', 'key')
})

test('a command may use a password, whose lack is an error', async () => {
  const secured = await startRedis({ own: true })
  try {
    await secured.cli('CONFIG', 'SET', 'requirepass', 'a secret')
    await expect(secured.cli('PING')).rejects.toThrow('NOAUTH')
    const withPassword = secured.url.replace('//', `//:${encodeURIComponent('a secret')}@`)
    expect(await redisText(withPassword, ['PING'])).toBe('PONG')
    await expect(redisText(withPassword.replace('secret', 'guess'), ['PING'])).rejects.toThrow('WRONGPASS')
  } finally {
    await secured.stop()
  }
})

test('a server that goes away rejects a command', async () => {
  const other = await startRedis({ own: true })
  const waiting = expect(other.cli('BLPOP', 'none', 0)).rejects.toThrow(/connection closed|ECONNRESET/)
  await until('it waits', async () => (await other.cli('INFO', 'clients')).includes('blocked_clients:1'))
  await other.stop()
  await waiting
  await expect(other.cli('PING')).rejects.toThrow('ECONNREFUSED')
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
    const first = `${server.url}/1`
    await redisText(first, ['SET', 'precious', 'data'])
    const given = await startRedis()
    await given.stop()
    expect(new URL(given.url).pathname).toBe('/2')
    expect(await redisText(first, ['GET', 'precious'])).toBe('data')
    await redisText(first, ['DEL', 'precious'])
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
