import { mkdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fixedWindow, type Store } from 'headgate'
import { Redis } from 'ioredis'
import { LONG, LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, refundStore, takeOne } from '../../support/store-calls.js'
import { connections, VERSIONS } from './clients.js'
import { dumpAll } from './connect.js'
import { NODE_REDIS, nodeRedisConnections } from './node-redis.js'
import { causeOf, failureOf, outcomeOf } from './outcomes.js'

const policy = fixedWindow({ limit: 5, window: LONG })

/** So many keys, loaded so slowly, are loaded for longer than a test needs; it ends that itself. */
const KEYS = 10_000
const LOAD_SLOWLY = '--key-load-delay 2000 --rdbcompression no --loading-process-events-interval-bytes 1024'
/** How often a client checks whether the data is loaded. */
const HASTE = { maxLoadingRetryTime: 50 }

/** Defines the tests of clients of some drivers whose server cannot take charges for a while. */
export function describeLoading(...versions: string[]): void {
  let server: RedisServer
  /** Looks on. */
  let other: Redis

  beforeAll(async () => {
    server = await startRedis({ args: LOAD_SLOWLY.split(' ') })
    other = new Redis(server.url, { ...HASTE, disconnectTimeout: 100, retryStrategy: () => 20 })
    other.on('error', () => undefined) // while the server restarts, connecting fails
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    other?.disconnect()
    await server?.stop()
  })

  beforeEach(() => server.cli('FLUSHALL'))

  /** Charges of each policy, alone and together, and a refund: each fails for the server's reason. */
  async function expectFailures(store: Store, code: string): Promise<void> {
    const parts = LONG_POLICIES.map(([name, policyOf]) => part(name, policyOf(5)))
    for (const charge of [...parts.map((one) => [one]), parts, [part('held', policy), ...parts]]) {
      expect(causeOf(await failureOf(chargeStore(store, [charge])))).toContain(code)
    }
    const refund = { ...part('held', policy), takenAtMs: Date.now() }
    expect(causeOf(await failureOf(refundStore(store, [refund])))).toContain(code)
  }

  const isLoading = async () => (await server.cli('INFO', 'persistence')).includes('loading:1')

  /** Takes 2 of 5 units, saves that among many other keys, and starts the server again. */
  async function startLoading(store: Store): Promise<void> {
    await takeOne(store, 'held', policy, 2)
    const fill = "for i = 1, ARGV[1] do redis.call('SET', 'filler:' .. i, string.rep('x', 100)) end"
    await server.cli('EVAL', fill, 0, KEYS)
    await server.cli('SAVE')
    await server.restart()
    expect(await isLoading()).toBe(true)
  }

  async function endLoading(): Promise<void> {
    expect(await isLoading()).toBe(true)
    await server.cli('CONFIG', 'SET', 'key-load-delay', 0)
    await until('the server has loaded its data', async () => !(await isLoading()))
  }

  describe.each(VERSIONS.filter(([version]) => versions.includes(version)))(
    'with a client of %s',
    (_, make) => {
      const { open, connected, endAll } = connections(() => server, make)
      afterEach(endAll)

      describe('while the server loads its data', () => {
        test('a client without a ready check fails charges with LOADING, and nothing is taken', async () => {
          const { client, store } = await connected({ enableReadyCheck: false })
          await startLoading(store)
          await until('the client is ready', () => client.status === 'ready')
          await expectFailures(store, 'LOADING')
          await endLoading()
          expect(await remainingOf(store, policy, ['held'])).toEqual([3])
          expect(await server.cli('DBSIZE')).toBe(String(KEYS + 1))
          expect((await takeOne(store, 'held', policy)).remaining).toBe(2)
        })

        test('a client that was connected before fails charges at once as not connected, and works afterwards', async () => {
          const { client, store } = await connected(HASTE)
          await startLoading(store)
          await until('the client is connected, not ready', () => client.status === 'connect')
          for (let i = 0; i < 3; i++) {
            expect((await failureOf(chargeStore(store, [[part('held', policy)]]))).message).toContain(
              'not connected',
            )
          }
          await endLoading()
          await until('the client is ready', () => client.status === 'ready')
          expect((await takeOne(store, 'held', policy)).remaining).toBe(2)
        })

        test('a client that connects for the first time makes its charges wait until the data is loaded', async () => {
          await startLoading((await connected(HASTE)).store)
          const { client, store } = open(HASTE)
          await until('the client is connected, not ready', () => client.status === 'connect')
          const waiting = Array.from({ length: 5 }, () =>
            outcomeOf(chargeStore(store, [[part('held', policy)]])),
          )
          await endLoading()
          const outcomes = await Promise.all(waiting)
          expect(outcomes.map(({ verdict, error }) => verdict?.allowed ?? error)).toEqual([
            ...[true, true, true],
            ...[false, false],
          ])
        })
      })

      test('while the server runs a long script of another client, charges fail with BUSY and take nothing', async () => {
        const { client, store } = await connected()
        await client.config('SET', 'busy-reply-threshold', '10')
        await takeOne(store, 'held', policy, 2)
        const before = await dumpAll(other)
        const loop = "local from = redis.call('TIME')[1] repeat until redis.call('TIME')[1] - from > 20"
        const ended = other.eval(loop, 0).catch((error: Error) => error.message)
        await until('the server is busy with the script', () =>
          client.ping().then(
            () => false,
            ({ message }: Error) => /BUSY/.test(message),
          ),
        )
        await expectFailures(store, 'BUSY')
        await client.script('KILL')
        expect(await ended).toContain('SCRIPT KILL')
        expect(await dumpAll(other)).toEqual(before)
        expect((await takeOne(store, 'held', policy)).remaining).toBe(2)
      })

      test('while the server cannot save, charges fail with MISCONF and take nothing', async () => {
        const { client, store } = await connected()
        await takeOne(store, 'held', policy, 2)
        const before = await dumpAll(other)
        const [, folder = ''] = (await client.config('GET', 'dir')) as string[]
        const inTheWay = join(folder, 'dump.rdb')
        await rm(inTheWay, { force: true })
        await mkdir(inTheWay)
        await client.config('SET', 'save', '3600 1')
        const saves = async (status: string) => {
          const info = await client.info('persistence')
          if (info.includes('rdb_bgsave_in_progress:1')) return false
          if (info.includes(`rdb_last_bgsave_status:${status}`)) return true
          await client.bgsave()
          return false
        }
        try {
          await until('saving fails', () => saves('err'))
          await expectFailures(store, 'MISCONF')
          expect(await dumpAll(other)).toEqual(before)
        } finally {
          await rmdir(inTheWay)
          await until('saving works', () => saves('ok'))
          await client.config('SET', 'save', '')
        }
        expect((await takeOne(store, 'held', policy)).remaining).toBe(2)
      })
    },
  )

  describe.each(NODE_REDIS.filter(([version]) => versions.includes(version)))(
    'with a client of %s',
    (_, make) => {
      const { connected, open, endAll } = nodeRedisConnections(() => server, make)
      afterEach(endAll)

      test('while the server loads its data, charges fail with LOADING, and nothing is taken', async () => {
        const { client, store } = await connected()
        await startLoading(store)
        await until('the client is ready', () => client.isReady)
        await expectFailures(store, 'LOADING')
        const newcomer = open()
        await until('a new client is ready', () => newcomer.client.isReady)
        await expectFailures(newcomer.store, 'LOADING')
        await endLoading()
        expect(await remainingOf(store, policy, ['held'])).toEqual([3])
        expect(await server.cli('DBSIZE')).toBe(String(KEYS + 1))
        expect((await takeOne(newcomer.store, 'held', policy)).remaining).toBe(2)
      })

      test('while the server runs a long script, charges fail with BUSY and take nothing', async () => {
        const { store } = await connected()
        await server.cli('CONFIG', 'SET', 'busy-reply-threshold', '10')
        await takeOne(store, 'held', policy, 2)
        const loop = "local from = redis.call('TIME')[1] repeat until redis.call('TIME')[1] - from > 20"
        const ended = other.eval(loop, 0).catch((error: Error) => error.message)
        const isBusy = () =>
          server.cli('PING').then(
            () => false,
            ({ message }: Error) => /BUSY/.test(message),
          )
        await until('the server is busy with the script', isBusy)
        await expectFailures(store, 'BUSY')
        await server.cli('SCRIPT', 'KILL')
        expect(await ended).toContain('SCRIPT KILL')
        expect((await takeOne(store, 'held', policy)).remaining).toBe(2)
      })
    },
  )
}
