import { setTimeout as pause } from 'node:timers/promises'
import { createLimiter, fixedWindow, memcachedStore, type StoreError } from 'headgate'
import { LONG } from '../../conformance/kit.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { startAll, stopAll, until } from '../../support/servers/wait.js'
import { listenForWarnings } from '../../unit/keys/warnings.js'
import { classesOn, connections } from './kit.js'
import { allAnswered, watcher } from './watcher.js'

const EVERY_MS = 10_000

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

const watcherOf = (url = server.url) => watcher(open(url, { retries: 1 }))

test('nothing is told for the first look, nor by others that come later, nor while nothing is lost', async () => {
  const first = watcherOf()
  await first.later(0)
  const second = watcherOf()
  for (let i = 0; i < 5; i++) {
    await second.later(EVERY_MS)
    await first.later(EVERY_MS)
  }
  await first.later(100 * EVERY_MS)
  expect([first.told, second.told]).toEqual([[], []])
})

async function removeCanary(): Promise<void> {
  const key = [...(await classesOn(server)).keys()].find((one) => one.startsWith('hg:canary:10s:'))
  await server.command(`delete ${key}`)
}

test.each<[string, () => Promise<unknown>]>([
  ['a flush', () => server.command('flush_all')],
  ['a restart', () => server.restart()],
  ['a removed item', removeCanary],
])('%s is told once by each process, with the name of the server, at its next look', async (_, lose) => {
  const watchers = [watcherOf(), watcherOf(), watcherOf()]
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
  const { told, later } = watcherOf(servers.map(({ url }) => url).join(','))
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

test('a server that was passed over for a while, and took no canary, has not lost anything', async () => {
  for (const away of [0, 1]) {
    const urls = servers.map(({ url }) => url).join(',')
    const client = open(urls, { failover: true, failoverTime: 1 })
    const { told, later } = watcher(client)
    const [passed] = client.servers.slice(away) as unknown as { wakeupAt: number }[]
    if (passed) passed.wakeupAt = Date.now() + 500 // as memjs sets it when a command fails
    await later(0)
    await pause(600)
    for (const ms of [EVERY_MS, EVERY_MS, 60 * EVERY_MS]) await later(ms)
    expect(told).toEqual([])
  }
})

test('a server that is away is no loss, until it comes back without what it held', async () => {
  const { told, later } = watcherOf()
  await later(0)
  await server.kill()
  for (let i = 0; i < 3; i++) await later(EVERY_MS)
  expect(told).toEqual([])
  await server.restart()
  for (let i = 0; i < 3; i++) await later(EVERY_MS)
  expect(told).toEqual([server.url])
})

describe('a limiter', () => {
  const policy = fixedWindow({ limit: 5, window: LONG })

  /** Charges, loses all, and charges on when it is time for the next look. */
  async function loseWith(listener?: (error: StoreError) => void): Promise<void> {
    const clock = jest.spyOn(Date, 'now')
    const startMs = Date.now()
    const client = open(server.url)
    const limiter = createLimiter({ policy, store: memcachedStore(client), key: () => 'key' })
    if (listener) limiter.events.on('limitsLost', listener)
    await limiter.charge({})
    await allAnswered(client)
    await server.command('flush_all')
    clock.mockImplementation(() => startMs + 2 * EVERY_MS)
    expect(await limiter.charge({})).toMatchObject({ allowed: true, remaining: 4 }) // it blocks nobody
  }

  test('emits limitsLost, and tells nothing else', async () => {
    const warnings = listenForWarnings()
    const told: StoreError[] = []
    await loseWith((error) => told.push(error))
    await until('it is told', () => told.length > 0)
    expect([told.map(({ message }) => message), warnings()]).toEqual([
      [expect.stringContaining(server.url)],
      [],
    ])
  })

  test('tells by a process warning, once, where nobody listens', async () => {
    const warnings = listenForWarnings()
    for (let i = 1; i <= 2; i++) {
      await loseWith()
      await until('it is told', () => warnings().length > 0)
      jest.mocked(Date.now).mockRestore()
    }
    expect(warnings()).toEqual(['HEADGATE_LIMITS_LOST'])
    expect(String(jest.mocked(process.emitWarning).mock.calls[0]?.[0])).toContain(server.url)
  })
})
