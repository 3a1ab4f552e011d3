import { fixedWindow, memcachedStore } from 'headgate'
import type { Client } from 'memjs'
import { link } from '../../../src/stores/memcached/link.js'
import { lossWatch } from '../../../src/stores/memcached/loss-watch.js'
import { LONG, takeOne } from '../../conformance/kit.js'
import { listenForWarnings } from '../../keys/warnings.js'
import { INSTALL_TIMEOUT_MS } from '../../servers/install.js'
import { type MemcachedServer, startMemcached } from '../../servers/memcached.js'
import { startAll, stopAll, until } from '../../servers/wait.js'
import { connections } from './kit.js'

const EVERY_MS = 10_000
/** Some of them live on each server. */
const KEYS = Array.from({ length: 20 }, (_, i) => `key-${i}`)

const { open, closeAll } = connections()
let servers: MemcachedServer[] = []
let server: MemcachedServer

beforeAll(async () => {
  servers = await startAll([startMemcached({ own: true }), startMemcached({ own: true })])
  server = servers[0] as MemcachedServer
}, INSTALL_TIMEOUT_MS)

afterEach(() => {
  closeAll()
  jest.restoreAllMocks()
})

afterAll(() => stopAll(servers))

beforeEach(() => Promise.all(servers.map((each) => each.restart())))

/** Waits until a look, which is of some steps, is over: replies come in the order of the requests. */
async function allAnswered(client: Client): Promise<void> {
  for (let i = 0; i < 4; i++) await Promise.allSettled(KEYS.map((key) => client.get(key)))
}

/** One process of several that watch, with a clock that the test sets. */
function watcher(url = server.url) {
  const told: string[] = []
  const client = open(url, { retries: 1 })
  let nowMs = Date.now()
  const watch = lossWatch(
    client,
    link(client),
    (name) => told.push(name),
    () => nowMs,
  )
  return {
    told,
    /** Charges keys of all servers so much later, and waits until what that asks for is answered. */
    async later(ms: number) {
      nowMs += ms
      for (const key of KEYS) watch(key)
      await allAnswered(client)
    },
  }
}

test('nothing is told for the first look, nor by others that come later, nor while nothing is lost', async () => {
  const first = watcher()
  await first.later(0)
  const second = watcher()
  for (let i = 0; i < 5; i++) {
    await second.later(EVERY_MS)
    await first.later(EVERY_MS)
  }
  await first.later(100 * EVERY_MS)
  expect([first.told, second.told]).toEqual([[], []])
})

test.each<[string, () => Promise<unknown>]>([
  ['a flush', () => server.command('flush_all')],
  ['a restart', () => server.restart()],
  ['a removed item', () => server.command(`delete ${'hg:canary:10s:0:'.padEnd(24, '-')}`)],
])('%s is told once by each process, with the name of the server, at its next look', async (_, lose) => {
  const watchers = [watcher(), watcher(), watcher()]
  for (const { later } of watchers) await later(0)
  await lose()
  for (const { later, told } of watchers) {
    await later(EVERY_MS / 2)
    expect(told).toEqual([])
    await later(EVERY_MS / 2)
    for (let i = 0; i < 5; i++) await later(EVERY_MS)
    expect(told).toEqual([server.url])
  }
})

test('each loss is told, and of several servers the one that lost', async () => {
  const { told, later } = watcher(servers.map(({ url }) => url).join(','))
  await later(0)
  for (const each of [...servers, ...servers]) {
    await each.restart()
    await later(EVERY_MS) // the connection is found to be lost
    await later(EVERY_MS)
    await later(EVERY_MS)
  }
  const urls = servers.map(({ url }) => url)
  expect(told).toEqual([...urls, ...urls])
})

test('a server that is away is no loss, until it comes back without what it held', async () => {
  const { told, later } = watcher()
  await later(0)
  await server.kill()
  for (let i = 0; i < 3; i++) await later(EVERY_MS)
  expect(told).toEqual([])
  await server.restart()
  for (let i = 0; i < 3; i++) await later(EVERY_MS)
  expect(told).toEqual([server.url])
})

describe('a store', () => {
  const policy = fixedWindow({ limit: 5, window: LONG })

  /** Charges, loses all, and charges on when it is time for the next look. */
  async function loseWith(options?: Parameters<typeof memcachedStore>[1]): Promise<void> {
    const clock = jest.spyOn(Date, 'now')
    const startMs = Date.now()
    const client = open(server.url)
    const store = memcachedStore(client, options)
    await takeOne(store, 'key', policy)
    await allAnswered(client)
    await server.command('flush_all')
    clock.mockImplementation(() => startMs + 2 * EVERY_MS)
    expect(await takeOne(store, 'key', policy)).toMatchObject({ allowed: true, remaining: 4 }) // it blocks nobody
  }

  test('calls onLimitsLost, and tells nothing else', async () => {
    const warnings = listenForWarnings()
    const told: string[] = []
    await loseWith({ onLimitsLost: (name) => told.push(name) })
    await until('it is told', () => told.length > 0)
    expect([told, warnings()]).toEqual([[server.url], []])
  })

  test('tells by a process warning by itself, each time', async () => {
    const warnings = listenForWarnings()
    for (let i = 1; i <= 2; i++) {
      await loseWith()
      await until('it is told', () => warnings().length === i)
      jest.mocked(Date.now).mockRestore()
    }
    expect(warnings()).toEqual(Array(2).fill('HEADGATE_MEMCACHED_LIMITS_LOST'))
    expect(String(jest.mocked(process.emitWarning).mock.calls[0]?.[0])).toContain(server.url)
  })
})
