import { createLimiter, fixedWindow, type StoreError } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import type { Client } from 'memjs'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { startAll, stopAll, until } from '../../support/servers/wait.js'
import { chargeStore } from '../../support/store-calls.js'
import { listenForWarnings } from '../../support/warnings.js'
import { connections } from './clients.js'

const INTERVAL_MS = 60_000
/** Far more keys than a server of 2 MB has room for. */
const FLOOD = 40_000
const policy = fixedWindow({ limit: 5, window: LONG })

const { open, closeAll } = connections()
let servers: MemcachedServer[] = []
let server: MemcachedServer

beforeAll(async () => {
  const args = ['-m', '2']
  servers = await startAll([startMemcached({ own: true, args }), startMemcached({ own: true, args })])
  server = servers[0] as MemcachedServer
}, INSTALL_TIMEOUT_MS)

afterEach(() => {
  closeAll()
  jest.restoreAllMocks()
})

afterAll(() => stopAll(servers))

beforeEach(() => Promise.all(servers.map((each) => each.restart())))

const urls = () => servers.map(({ url }) => url).join(',')

/** Waits until memjs has the replies to what it has sent: they come in the order of the requests. */
function waitForReplies(client: Client): Promise<unknown> {
  const keys = Array.from({ length: 20 }, (_, i) => `key-${i}`) // some live on each server
  return Promise.allSettled(keys.map((key) => client.get(key)))
}

/** The store of one process, with its own clock. */
function monitorOf(client: Client) {
  const reports: string[] = []
  let nowMs = Date.now()
  const store = memcachedStore(client)
  store.onLimitsLost?.(({ message }) => reports.push(message))
  return {
    reports,
    async pollAfter(ms: number) {
      nowMs += ms
      const clock = jest.spyOn(Date, 'now').mockReturnValue(nowMs)
      const applied = store.apply([]) // polls before it returns
      clock.mockRestore()
      await applied
      await waitForReplies(client)
    },
  }
}

test('the monitor reports nothing at the first poll, nor while nothing is lost', async () => {
  const first = monitorOf(open(server.url))
  await first.pollAfter(0)
  const second = monitorOf(open(server.url))
  for (let i = 0; i < 3; i++) {
    await second.pollAfter(INTERVAL_MS)
    await first.pollAfter(INTERVAL_MS)
  }
  expect([first.reports, second.reports]).toEqual([[], []])
})

async function flood(): Promise<void> {
  const keys = Array.from({ length: FLOOD }, (_, i) => `flood-${i}`.padEnd(50, '-'))
  const sets = keys.map((key) => `set ${key} 0 0 1 noreply\r\n1`) // as long as counters
  await server.command([...sets, 'version'].join('\r\n'))
}

test.each<[string, () => Promise<unknown>, RegExp]>([
  ['a flush', () => server.command('flush_all'), /: it was flushed$/],
  ['a restart', () => server.restart(), /: it was restarted$/],
  ['evictions', flood, /: it evicted \d+ items$/],
])('each process reports %s once, with the name of the server, at its next poll', async (_, lose, reason) => {
  const monitors = [monitorOf(open(urls())), monitorOf(open(urls()))]
  for (const { pollAfter } of monitors) await pollAfter(0)
  await lose()
  for (const { pollAfter, reports } of monitors) {
    await pollAfter(INTERVAL_MS / 2)
    expect(reports).toEqual([])
    for (let i = 0; i < 4; i++) await pollAfter(INTERVAL_MS / 2) // after a restart the first finds the connection lost
    await pollAfter(INTERVAL_MS)
    expect(reports).toEqual([expect.stringMatching(reason)])
    expect(reports[0]).toContain(server.url)
  }
})

test('every loss is reported, with the server that lost state', async () => {
  const { reports, pollAfter } = monitorOf(open(urls()))
  await pollAfter(0)
  for (const each of [...servers, ...servers]) {
    await each.command('flush_all')
    await pollAfter(INTERVAL_MS)
  }
  const order = [...servers, ...servers].map(({ url }) => expect.stringContaining(`${url} has lost`))
  expect(reports).toEqual(order)
})

test('a server that was down is reported only if it comes back without its items', async () => {
  const { reports, pollAfter } = monitorOf(open(server.url))
  await pollAfter(0)
  await server.kill()
  for (let i = 0; i < 3; i++) await pollAfter(INTERVAL_MS)
  expect(reports).toEqual([])
  await server.restart()
  for (let i = 0; i < 3; i++) await pollAfter(INTERVAL_MS)
  expect(reports).toHaveLength(1)
})

test('a server with an invalid port does not make the poll fail', async () => {
  await expect(monitorOf(open('127.0.0.1:99999')).pollAfter(0)).resolves.toBeUndefined()
})

test('a store reports evictions that have removed its limits', async () => {
  const clock = jest.spyOn(Date, 'now')
  const startMs = Date.now()
  const client = open(server.url)
  const store = memcachedStore(client)
  const reports: string[] = []
  store.onLimitsLost?.(({ message }) => reports.push(message))
  const keys = Array.from({ length: 20 }, (_, i) => `ours-${i}`.padEnd(50, '-'))
  await chargeStore(
    store,
    keys.map((key) => [part(key, policy)]),
  )
  await waitForReplies(client)
  await flood()
  expect(reports).toEqual([])
  clock.mockImplementation(() => startMs + 2 * INTERVAL_MS) // the first poll was somewhat later than startMs
  await chargeStore(store, [[part('other', policy)]])
  await until('the loss is reported', () => reports.length > 0)
  expect(new Set(await remainingOf(store, policy, keys))).toContain(policy.limit)
})

describe('a limiter', () => {
  /** Charges, loses all, and charges again when the next poll is due. */
  async function loseWith(listener?: (error: StoreError) => void): Promise<void> {
    const clock = jest.spyOn(Date, 'now')
    const startMs = Date.now()
    const client = open(server.url)
    const limiter = createLimiter({ policy, store: memcachedStore(client), key: () => 'key', timeout: '10s' })
    if (listener) limiter.events.on('limitsLost', listener)
    await limiter.charge({ ip: '192.0.2.7' })
    await waitForReplies(client)
    await server.command('flush_all')
    clock.mockImplementation(() => startMs + 2 * INTERVAL_MS)
    expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ allowed: true, remaining: 4 }) // it blocks nobody
  }

  test('emits limitsLost, and nothing else', async () => {
    const warnings = listenForWarnings()
    const errors: StoreError[] = []
    await loseWith((error) => errors.push(error))
    await until('limitsLost is emitted', () => errors.length > 0)
    expect([errors.map(({ message }) => message), warnings()]).toEqual([
      [expect.stringContaining(server.url)],
      [],
    ])
  })

  test('emits one process warning if there is no listener', async () => {
    const warnings = listenForWarnings()
    for (let i = 1; i <= 2; i++) {
      await loseWith()
      await until('a warning is emitted', () => warnings().length > 0)
      jest.mocked(Date.now).mockRestore()
    }
    expect(warnings()).toEqual(['HEADGATE_LIMITS_LOST'])
    expect(String(jest.mocked(process.emitWarning).mock.calls[0]?.[0])).toContain(server.url)
  })
})
