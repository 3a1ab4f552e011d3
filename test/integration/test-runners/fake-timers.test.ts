import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { connections } from '../memcached/clients.js'
import { useRedis } from '../redis/use-redis.js'
import { chargeStores } from './charge-stores.js'
import { WHOLE_LIMITS } from './whole-limits.js'

// The timers of a test are faked while its stores are charged, and the fake clock stands still.

const redis = useRedis()
const { open, closeAll } = connections()
let server: MemcachedServer

beforeAll(async () => {
  server = await startMemcached({ own: true })
}, INSTALL_TIMEOUT_MS)

beforeEach(async () => {
  await redis.client.flushall()
  await server.command('flush_all')
  jest.resetModules()
})

afterEach(() => {
  jest.useRealTimers()
  closeAll()
})

afterAll(() => server?.stop())

test.each<[string, () => Promise<unknown>, object?]>([
  ['before the import', async () => undefined],
  ['after the import', () => import('headgate')],
  ['before the import, by the fakes of old', async () => undefined, { legacyFakeTimers: true }],
])('with all timers of Jest faked %s, stores decide', async (_when, load, fakes = {}) => {
  const memcached = open(server.url)
  await memcached.stats()
  await load()
  jest.useFakeTimers(fakes)
  expect(await chargeStores({ redis: redis.client, memcached })).toEqual(WHOLE_LIMITS)
})

test.each(['1970-01-01', '2050-01-01'])(
  'with the date faked to %s, stores decide as at any other time',
  async (date) => {
    const memcached = open(server.url)
    await memcached.stats()
    jest.useFakeTimers({ now: new Date(date) })
    expect(await chargeStores({ redis: redis.client, memcached })).toEqual(WHOLE_LIMITS)
  },
)

test.each(['@sinonjs/fake-timers before', 'node:test after'])(
  'with the timers of the process faked by %s the import, stores decide',
  async (way) => {
    const child = join(__dirname, 'charge-child.ts')
    const args = ['--import', 'tsx', child, way, redis.server.url, server.url]
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 100_000 })
    expect(JSON.parse(stdout)).toEqual(WHOLE_LIMITS)
  },
)
