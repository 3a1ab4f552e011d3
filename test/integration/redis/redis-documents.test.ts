import { createLimiter } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { Documents } from 'headgate/store'
import { until } from '../../support/servers/wait.js'
import { ALL_DRIVERS, openedStore } from './drivers.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()
beforeEach(() => redis.client.flushdb())

describe.each(ALL_DRIVERS)('with a client of %s', (_, open) => {
  const opened = openedStore(() => redis.server.url, open)

  test('a document is written, replaced by its version, and never expires', async () => {
    const { read, replace } = opened.makeStore().documents as Documents
    expect(await replace('settings', 'é', undefined)).toBe(true)
    const [first] = await read([{ key: 'settings' }])
    expect(first?.text).toBe('é')
    expect(await replace('settings', 'second', first?.version)).toBe(true)
    expect(await replace('settings', 'third', first?.version)).toBe(false)
    expect(await redis.client.ttl('settings')).toBe(-1)
  })
})

test('a reader that has the version does not get the text again', async () => {
  const { read, replace } = redisStore(redis.client).documents as Documents
  await replace('settings', 'text', undefined)
  const [{ version } = { version: '' }] = await read([{ key: 'settings' }])
  expect(await read([{ key: 'settings', version }])).toEqual([{ version }])
})

test.each<[string, (key: string) => Promise<unknown>]>([
  ['string', (key) => redis.client.set(key, 'text')],
  ['list', (key) => redis.client.rpush(key, 'text')],
  ['set', (key) => redis.client.sadd(key, 'text')],
  ['zset', (key) => redis.client.zadd(key, 1, 'text')],
  ['stream', (key) => redis.client.xadd(key, '*', 'text', 'text')],
])('a %s is damage of its own document, and is overwritten only by its version', async (type, write) => {
  const { read, replace } = redisStore(redis.client).documents as Documents
  await write('damaged')
  await replace('intact', 'text', undefined)
  const [intact, damaged, missing] = await read([{ key: 'intact' }, { key: 'damaged' }, { key: 'missing' }])
  expect([intact?.text, missing]).toEqual(['text', undefined])
  expect(damaged).toEqual({
    version: expect.any(String),
    damage: expect.stringContaining('another Redis type'),
  })
  expect(await read([{ key: 'damaged', version: damaged?.version }])).toEqual([damaged])
  for (const version of [undefined, intact?.version])
    expect(await replace('damaged', 'new', version)).toBe(false)
  expect(await redis.client.type('damaged')).toBe(type)
  expect(await replace('damaged', 'new', damaged?.version)).toBe(true)
  expect(await read([{ key: 'damaged' }])).toMatchObject([{ text: 'new' }])
  expect(await replace('damaged', 'newer', damaged?.version)).toBe(false)
})

test('another program keeps its key where a limiter publishes its limits', async () => {
  await redis.client.set('hg:limits:api', 'text')
  const key = (id: string) => id
  const store = redisStore(redis.client)
  const limiter = createLimiter({ name: 'api', limit: 2, window: '1h', key, store, timeout: '10s' })
  const read = jest.spyOn(store.documents as Documents, 'read')
  await limiter.charge('somebody')
  await until('the publisher reads', () => read.mock.results.length > 0)
  await Promise.all(read.mock.results.map(({ value }) => value))
  await limiter.charge('somebody')
  expect(await redis.client.get('hg:limits:api')).toBe('text')
  await limiter.close()
})
