import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { connections } from '../memcached/clients.js'
import { useRedis } from '../redis/use-redis.js'
import { chargeStores } from './charge-stores.js'
import { wholeLimits } from './whole-limits.js'

/** How the timers of Jest are faked: when, with which options, and what is loaded before. */
const OF_JEST: readonly { way: string; fakes: FakeTimers; load?: () => Promise<unknown> }[] = [
  { way: 'before the import', fakes: {} },
  { way: 'after the import', fakes: {}, load: () => import('headgate') },
  { way: 'before the import, by the fakes of old', fakes: { legacyFakeTimers: true } },
  { way: 'before the import, with the date set to 1970-01-01', fakes: { now: new Date('1970-01-01') } },
  { way: 'before the import, with the date set to 2050-01-01', fakes: { now: new Date('2050-01-01') } },
]

/** The ways of `charge-child.ts` to fake the timers of a process. */
const OF_PROCESSES = ['@sinonjs/fake-timers before', 'node:test after']

type FakeTimers = Parameters<typeof jest.useFakeTimers>[0]

/**
 * Fakes the timers of a test while its stores are charged, and the fake clock stands still. Each store has as
 * many units as `limitOf` returns for the way to fake them.
 */
export function describeFakeTimers(limitOf: (way: string) => number): void {
  const redis = useRedis()
  const { open, closeAll } = connections()
  let server: MemcachedServer
  let child: Bundle

  beforeAll(async () => {
    child = await bundle(join(__dirname, 'charge-child.ts'))
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

  afterAll(async () => {
    await child?.remove()
    await server?.stop()
  })

  test.each(OF_JEST)('with all timers of Jest faked $way, stores decide', async ({ way, fakes, load }) => {
    const memcached = open(server.url)
    await memcached.stats()
    await load?.()
    jest.useFakeTimers(fakes)
    const limit = limitOf(way)
    expect(await chargeStores({ redis: redis.client, memcached }, limit)).toEqual(wholeLimits(limit))
  })

  test.each(OF_PROCESSES)(
    'with the timers of the process faked by %s the import, stores decide',
    async (way) => {
      const limit = limitOf(way)
      const args = [child.path, way, redis.server.url, server.url, String(limit)]
      const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 100_000 })
      expect(JSON.parse(stdout)).toEqual(wholeLimits(limit))
    },
  )
}
