import { Redis } from 'ioredis'
import { INSTALL_TIMEOUT_MS } from './install.js'
import { type RedisSentinel, startRedisSentinel } from './redis-sentinel.js'
import { until } from './wait.js'

let group: RedisSentinel
let client: Redis

beforeAll(async () => {
  group = await startRedisSentinel()
  const sentinels = group.sentinels.map(({ host, port }) => ({ host, port }))
  client = new Redis({ sentinels, name: group.name, maxRetriesPerRequest: null })
  client.on('error', () => {}) // while there is no master, connecting fails
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  client?.disconnect()
  await group?.stop()
})

test('the client finds the master, and the replica follows it', async () => {
  expect(await group.masterPort()).toBe(group.master.port)
  await client.set('key', 'before')
  expect(await group.master.cli('GET', 'key')).toBe('before')
  await until('the replica has it', async () => (await group.replica.cli('GET', 'key')) === 'before')
})

test('after the master is killed, the client follows to the replica, and the master comes back as a replica', async () => {
  const { master, replica } = group
  await master.kill('SIGKILL')
  await group.promoted(replica)
  await client.set('key', 'after')
  expect(await replica.cli('GET', 'key')).toBe('after')
  await master.restart()
  await until('the old master follows', async () => (await master.cli('GET', 'key')) === 'after')
  expect((await master.cli('ROLE')).startsWith('slave')).toBe(true)
  expect(await group.masterPort()).toBe(replica.port)
})
