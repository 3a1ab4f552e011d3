import { Client } from 'memjs'
import { INSTALL_TIMEOUT_MS } from './install.js'
import { type MemcachedServer, startMemcached } from './memcached.js'
import { nameServer } from './name-server.js'

let server: MemcachedServer

beforeAll(async () => {
  server = await startMemcached({ own: true })
}, INSTALL_TIMEOUT_MS)

afterAll(() => server?.stop())

const value = async ({ command }: MemcachedServer, statistics: string, name: string) =>
  (await command(statistics)).match(new RegExp(`^STAT ${name} (.*)$`, 'm'))?.[1]

test('memjs accepts the url of the server', async () => {
  const client = Client.create(server.url)
  try {
    await client.set('by-memjs', 'value', { expires: 0 })
    expect(await server.command('get by-memjs')).toBe('VALUE by-memjs 0 5\r\nvalue\r\nEND')
  } finally {
    client.close()
  }
})

test('memcached listens on TCP and on loopback only', async () => {
  const settings = ['inter', 'udpport', 'tcpport'].map((name) => value(server, 'stats settings', name))
  expect(await Promise.all(settings)).toEqual(['127.0.0.1', '0', String(server.port)])
})

test('startMemcached takes options', async () => {
  const small = await startMemcached({ args: ['-m', '3'] })
  try {
    expect(await value(small, 'stats', 'limit_maxbytes')).toBe('3145728')
  } finally {
    await small.stop()
  }
})

test('a command may carry data, and an error reply rejects with its text', async () => {
  expect(await server.command('set key 0 0 5\r\nvalue')).toBe('STORED')
  await expect(server.command('no-such-command')).rejects.toThrow('ERROR')
  await expect(server.command('incr key 1')).rejects.toThrow('CLIENT_ERROR cannot increment')
})

test('after a restart another process answers on the same port, and has nothing', async () => {
  const { pid } = server
  await server.command('set key 0 0 5\r\nvalue')
  await server.kill()
  await expect(server.command('version')).rejects.toThrow('ECONNREFUSED')
  await server.restart()
  expect(server.pid).not.toBe(pid)
  expect(await value(server, 'stats', 'pid')).toBe(String(server.pid))
  expect(await server.command('get key')).toBe('END')
})

describe.each(['', 'memcached://'])('if MEMCACHED_URL names a server, as %shost:port,', (scheme) => {
  nameServer('MEMCACHED_URL', () => scheme + server.url)

  test('that server is used, and neither killed nor restarted nor emptied', async () => {
    const given = await startMemcached()
    expect([given.host, given.port, given.url]).toEqual([server.host, server.port, server.url])
    expect(await given.command('set given 0 0 5\r\nvalue')).toBe('STORED')
    await expect(given.kill()).rejects.toThrow('Use startMemcached({ own: true })')
    await expect(given.restart()).rejects.toThrow('Use startMemcached({ own: true })')
    await given.stop()
    expect(await server.command('get given')).toContain('value')
  })

  test('a test that needs its own server gets one', async () => {
    const own = await startMemcached({ own: true })
    expect(own.port).not.toBe(server.port)
    await own.stop()
  })
})
