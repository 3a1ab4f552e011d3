import { fixedWindow, type Store } from 'headgate'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import {
  allowedCount,
  keyedPolicies,
  part,
  remainingOf,
} from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, forgetStore, takeOne } from '../../support/store-calls.js'
import { type AnyConnection, driversOf } from './any-client.js'
import { connections, VERSIONS } from './clients.js'
import { NODE_REDIS, nodeRedisConnections } from './node-redis.js'
import { causeOf, failureOf, outcomeOf } from './outcomes.js'

const policy = fixedWindow({ limit: 1000, window: LONG })

/** Defines the tests of clients that connect, of some versions of ioredis and of node-redis. */
export function describeConnecting(...versions: string[]): void {
  let server: RedisServer

  beforeAll(async () => {
    server = await startRedis({ own: true })
  }, INSTALL_TIMEOUT_MS)

  afterAll(() => server?.stop())

  beforeEach(async () => {
    if (server.pid === undefined) await server.restart()
    await server.cli('FLUSHALL')
  })

  const charge = (store: Store) => chargeStore(store, [[part('key', policy)]])
  const takenOf = async (store: Store) => policy.limit - ((await remainingOf(store, policy, ['key']))[0] ?? 0)
  const untilReady = (client: Pick<AnyConnection, 'isReady'>) =>
    until('the client is ready', () => client.isReady())

  describe.each(driversOf(versions))('with a client of $name', (driver) => {
    const { open, connected, endAll } = driver.connections(() => server)
    afterEach(endAll)

    describe('an application that starts first', () => {
      test('has its charges answered by the first connection, however many they are', async () => {
        const { store } = open()
        const calls = Array.from({ length: 2000 }, () => charge(store))
        expect(allowedCount((await Promise.all(calls)).flat())).toBe(1000)
      })

      test('sees charges fail without an offline queue until the client is ready, and none was taken', async () => {
        const client = open({ offlineQueue: false })
        const { store } = client
        expect(causeOf(await failureOf(charge(store)))).toContain(driver.offline)
        await untilReady(client)
        expect(await takenOf(store)).toBe(0)
        expect((await takeOne(store, 'key', policy)).allowed).toBe(true)
      })

      test('sees charges fail when the client gives up', async () => {
        await server.kill()
        const { store } = open({ reconnectAfterMs: false })
        await failureOf(charge(store))
        expect((await failureOf(charge(store))).message).toContain(driver.ended)
      })
    })

    describe('a client that was ended', () => {
      test.each(['destroy', 'quit'] as const)(
        'by %s fails charges at once, and works when it is connected again',
        async (how) => {
          const client = await connected()
          const { store } = client
          await takeOne(store, 'key', policy)
          await client[how]()
          const atOnce = outcomeOf(charge(store))
          await until('the client has ended', () => client.hasEnded(), { everyMs: 1 })
          expect((await failureOf(charge(store))).message).toContain(driver.ended)
          expect((await failureOf(forgetStore(store, keyedPolicies(policy, 'key')))).message).toContain(
            driver.ended,
          )
          await client.connect()
          const { verdict, error } = await atOnce
          expect(verdict ?? error).toMatchObject(verdict ? { allowed: true } : { name: 'StoreError' })
          expect(await takenOf(store)).toBe(verdict ? 2 : 1)
        },
      )

      test('with charges in flight rejects them, and they were taken once or not at all', async () => {
        const client = await connected()
        const { store } = client
        const calls = Array.from({ length: 100 }, () => outcomeOf(charge(store)))
        await new Promise(setImmediate)
        client.destroy()
        const outcomes = await Promise.all(calls)
        for (const { verdict, error } of outcomes)
          expect(verdict ?? error).toMatchObject(verdict ? { allowed: true } : { name: 'StoreError' })
        if (NODE_REDIS.some(([version]) => version === driver.name))
          expect(outcomes.filter(({ error }) => error)).not.toEqual([])
        await until('the client has ended', () => client.hasEnded(), { everyMs: 1 })
        await client.connect()
        expect(await takenOf(store)).toBeGreaterThanOrEqual(outcomes.filter(({ verdict }) => verdict).length)
        expect(await takenOf(store)).toBeLessThanOrEqual(100)
      })
    })

    test('a client that only listens (RESP 2) fails charges with its reason, and none was taken', async () => {
      const client = await connected({ protocol: 2 })
      const { store } = client
      await takeOne(store, 'key', policy)
      await client.subscribe('news')
      expect(causeOf(await failureOf(charge(store)))).toContain(driver.listening)
      await client.unsubscribe('news')
      expect(await takenOf(store)).toBe(1)
    })

    if (driver.name !== 'ioredis 5')
      test('a client that also listens (RESP 3) charges like any other', async () => {
        const client = await connected({ protocol: 3 })
        await client.subscribe('news')
        expect((await takeOne(client.store, 'key', policy)).remaining).toBe(policy.limit - 1)
      })
  })

  describe.each(VERSIONS.filter(([version]) => versions.includes(version)))(
    'with a client of %s, which connects by itself',
    (_, make) => {
      const { open, connected, endAll } = connections(() => server, make)
      afterEach(endAll)

      test('sees charges fail at once while the server is down, and none of them was taken', async () => {
        await server.kill()
        const { client, store } = open()
        const early = outcomeOf(charge(store)) // may wait for the first connection
        for (let i = 0; i < 5; i++) {
          await until('the client is reconnecting', () => client.status === 'reconnecting', { everyMs: 1 })
          expect((await failureOf(charge(store))).message).toMatch(/not connected \((re)?connecting\)/)
        }
        await server.restart()
        await until('the client is ready', () => client.status === 'ready')
        const { verdict, error } = await early
        expect(verdict ?? error).toMatchObject(verdict ? { allowed: true } : { name: 'StoreError' })
        expect(await takenOf(store)).toBe(verdict ? 1 : 0)
        expect((await takeOne(store, 'key', policy)).allowed).toBe(true)
      })

      test('sees charges fail at once while it tries again, with the reason of the first attempt', async () => {
        await server.kill()
        const { client, store } = open()
        await new Promise((resolve) => client.once('reconnecting', resolve))
        await new Promise<void>((resolve) => client.once('connecting', resolve))
        expect((await failureOf(charge(store))).message).toMatch(
          /not connected \(connecting\): .*ECONNREFUSED/,
        )
      })

      test('sees charges fail at once, even after some that have waited from the start', async () => {
        await server.kill('SIGSTOP') // the connection is made, and nobody answers
        const { client, store } = open({ maxRetriesPerRequest: null })
        await until('the client is connecting', () => client.status === 'connect', { everyMs: 1 })
        const early: ReturnType<typeof outcomeOf>[] = []
        for (let i = 0; i < 5; i++) {
          early.push(outcomeOf(charge(store)))
          await new Promise(setImmediate)
        }
        await server.kill('SIGKILL')
        await until('the client is reconnecting', () => client.status === 'reconnecting', { everyMs: 1 })
        const late = outcomeOf(charge(store), 1000)
        expect(await late).toMatchObject({ error: { name: 'StoreError' } })
        await server.restart()
        const answered = (await Promise.all(early)).filter(({ verdict }) => verdict !== undefined)
        await until('the client is ready', () => client.status === 'ready')
        expect(await takenOf(store)).toBe(answered.length)
      })

      test('sees charges fail when the client lacks the password', async () => {
        const { client: admin } = await connected()
        await admin.config('SET', 'requirepass', 'secret')
        try {
          const { store } = open({ retryStrategy: () => null })
          expect(causeOf(await failureOf(charge(store)))).toMatch(/NOAUTH|closed/)
        } finally {
          await admin.config('SET', 'requirepass', '')
        }
      })

      test('that connects at its first command does so after another error as well', async () => {
        const { client, store } = open({ lazyConnect: true })
        client.emit('error', new Error('from elsewhere'))
        expect((await charge(store))[0]?.allowed).toBe(true)
      })

      test('before it was ever connected fails charges at once', async () => {
        const { client, store } = open({ lazyConnect: true })
        client.disconnect()
        expect((await failureOf(charge(store))).message).toContain('not connected (end)')
      })
    },
  )

  describe.each(NODE_REDIS.filter(([version]) => versions.includes(version)))(
    'with a client of %s, which an application connects',
    (_, make) => {
      const CLOSED = 'the client is not connected (closed). Call client.connect() first.'
      const { create, open, connected, endAll } = nodeRedisConnections(() => server, make)
      afterEach(endAll)

      test('has charges fail with a hint until it calls connect(), and none of them was taken', async () => {
        const { client, store } = create()
        for (const call of [charge(store), forgetStore(store, keyedPolicies(policy, 'key'))])
          expect((await failureOf(call)).message).toContain(CLOSED)
        await client.connect()
        expect(await takenOf(store)).toBe(0)
        expect((await takeOne(store, 'key', policy)).allowed).toBe(true)
      })

      test('sees charges fail while the server is down, at once after the first attempt, and takes none', async () => {
        await server.kill()
        const { client, store } = open({ socket: { reconnectStrategy: () => 1500 } })
        const early = await failureOf(charge(store)) // waited for the first attempt
        expect(early.message).toContain('the connection was lost before the reply arrived')
        for (let i = 0; i < 5; i++) {
          expect((await failureOf(charge(store))).message).toMatch(/not connected \((re)?connecting\)/)
        }
        await server.restart()
        await untilReady({ isReady: () => client.isReady })
        expect(await takenOf(store)).toBe(0)
        expect((await takeOne(store, 'key', policy)).allowed).toBe(true)
      })

      test('sees charges fail that waited for a server that never answered', async () => {
        await server.kill('SIGSTOP') // the connection is made, and nobody answers
        const { client, store } = open()
        const early: ReturnType<typeof failureOf>[] = []
        for (let i = 0; i < 5; i++) {
          early.push(failureOf(charge(store)))
          await new Promise(setImmediate)
        }
        await server.kill('SIGKILL')
        for (const failure of early)
          expect((await failure).message).toMatch(/connection was lost|not connected/)
        expect((await failureOf(charge(store))).message).toContain('not connected')
        await server.restart()
        await untilReady({ isReady: () => client.isReady })
        expect(await takenOf(store)).toBe(0)
      })

      test('sees charges fail when the client lacks the password', async () => {
        await server.cli('CONFIG', 'SET', 'requirepass', 'secret')
        try {
          const { store } = open({ RESP: 2, socket: { reconnectStrategy: false } })
          expect(causeOf(await failureOf(charge(store)))).toContain('NOAUTH')
        } finally {
          const { client } = await connected({ password: 'secret' })
          await client.sendCommand(['CONFIG', 'SET', 'requirepass', ''])
        }
      })
    },
  )
}
