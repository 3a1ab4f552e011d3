import type { ProcessNotes } from 'headgate/store'
import { DRIVERS, openedStore } from './drivers.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()

describe.each(Object.entries(DRIVERS))('with a client of %s', (_, open) => {
  const opened = openedStore(() => redis.server.url, open)
  const exchange = () => opened.makeStore().notes as ProcessNotes
  beforeEach(() => redis.client.flushdb())

  test('processes read the notes of one another, the latest of each', async () => {
    const { write, read } = exchange()
    expect(await read('notes')).toEqual([])
    await write('notes', 'one', 'first', 60_000)
    await write('notes', 'one', '{"text":"é\\n"}', 60_000)
    await write('notes', 'two', '', 60_000)
    expect((await read('notes')).toSorted()).toEqual(['', '{"text":"é\\n"}'])
  })

  test('a note that is removed is gone, and the last one leaves no key', async () => {
    const { write, read, remove } = exchange()
    await write('notes', 'one', 'first', 60_000)
    await write('notes', 'two', 'second', 60_000)
    await remove('notes', 'one')
    expect(await read('notes')).toEqual(['second'])
    await remove('notes', 'two')
    expect(await redis.client.exists('notes')).toBe(0)
  })

  test('notes expire with their key', async () => {
    await exchange().write('notes', 'one', 'first', 60_000)
    const ttlMs = await redis.client.pttl('notes')
    expect(ttlMs).toBeGreaterThan(50_000)
    expect(ttlMs).toBeLessThanOrEqual(60_000)
  })
})

test('a key of another type is an error of the store', async () => {
  await redis.client.set('text', 'text')
  const opened = await DRIVERS['ioredis 6'](redis.server.url)
  const { read } = opened.makeStore().notes as ProcessNotes
  await expect(read('text')).rejects.toMatchObject({ name: 'StoreError', store: 'redis' })
  await opened.end()
})
