import { redisStore } from 'headgate/redis'
import type { Documents } from 'headgate/store'
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

test('a key of another type is an error of the store', async () => {
  await redis.client.set('text', 'text')
  const { read, replace } = redisStore(redis.client).documents as Documents
  await expect(read([{ key: 'text' }])).rejects.toMatchObject({ name: 'StoreError', store: 'redis' })
  await expect(replace('text', 'new', undefined)).rejects.toMatchObject({ name: 'StoreError' })
})
