import { fixedWindow, memcachedStore } from 'headgate'
import { LONG, part, remainingOf } from '../../conformance/kit.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { startAll, stopAll, until } from '../../support/servers/wait.js'
import { connections } from './kit.js'
import { allAnswered } from './watcher.js'

/** The store looks for evictions so rarely. */
const RARELY_MS = 600_000
/** Far more than a server has room for. */
const FLOOD = 40_000
const policy = fixedWindow({ limit: 5, window: LONG })

const { open, closeAll } = connections()
let servers: MemcachedServer[] = []

beforeAll(async () => {
  servers = await startAll([startMemcached({ args: ['-m', '2'] }), startMemcached({ args: ['-m', '2'] })])
}, INSTALL_TIMEOUT_MS)

afterEach(() => {
  closeAll()
  jest.restoreAllMocks()
})

afterAll(() => stopAll(servers))

beforeEach(() => Promise.all(servers.map((each) => each.restart())))

/** Keys of one length, since each size of items is evicted by itself. Some of 20 live on each server. */
const keysOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${name}-${i}`.padEnd(50, '-'))

const chargesOf = (keys: readonly string[]) => keys.map((key) => [part(key, policy)])

async function evictionsOn(server: MemcachedServer): Promise<number> {
  return Number(/^STAT evictions (\d+)/m.exec(await server.command('stats'))?.[1])
}

test.each([
  ['first', 0, 1],
  ['second', 1, 0],
])('what the %s of two servers evicts is told once, with its name', async (_, at, other) => {
  const [flooded, spared] = [servers[at], servers[other]] as [MemcachedServer, MemcachedServer]
  const clock = jest.spyOn(Date, 'now')
  const startMs = Date.now()
  const client = open(servers.map(({ url }) => url).join(','))
  const told: string[] = []
  const store = memcachedStore(client)
  store.onLimitsLost?.(({ message }) => told.push(message))
  const keys = keysOf('ours', 20)
  await store.charge(chargesOf(keys))
  await allAnswered(client)

  const flooding = memcachedStore(open(flooded.url))
  await flooding.charge(chargesOf(keysOf('theirs', FLOOD)))
  expect(await evictionsOn(flooded)).toBeGreaterThan(0)
  expect(await evictionsOn(spared)).toBe(0)
  expect(told).toEqual([])

  for (let i = 1; i <= 3; i++) {
    clock.mockImplementation(() => startMs + i * RARELY_MS)
    // By other keys, so that what was lost is not made again.
    await store.charge(chargesOf(keys.map((key) => key.replace('ours', `o${i}rs`))))
    await until('it is told', () => told.length > 0)
    await allAnswered(client)
  }
  expect(told).toEqual([expect.stringContaining(flooded.url)])

  const left = await remainingOf(store, policy, keys)
  const lost = keys.filter((_key, i) => left[i] === policy.limit)
  expect(lost.length).toBeGreaterThan(0)
  expect(lost).toEqual(keys.filter((key) => client.server(key)?.port === flooded.port))
})
