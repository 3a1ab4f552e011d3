import { fixedWindow, type Store } from 'headgate'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import {
  allowedCount,
  keyedPolicies,
  part,
  remainingOf,
  takeOne,
} from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, forgetStore } from '../../support/store-calls.js'
import { NODE_REDIS, type NodeRedis, nodeRedisConnections } from './node-redis.js'
import { causeOf, failureOf, outcomeOf } from './outcomes.js'

const policy = fixedWindow({ limit: 1000, window: LONG })

/** Defines the tests of clients of some versions of node-redis that connect. */
export function describeNodeRedisConnecting(...versions: string[]): void {
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
  const isReady = (client: NodeRedis) => until('the client is ready', () => client.isReady)
  const CLOSED = 'the client is not connected (closed). Call client.connect() first.'

  describe.each(NODE_REDIS.filter(([version]) => versions.includes(version)))(
    'with a client of %s',
    (_, make) => {
      const { create, open, connected, endAll } = nodeRedisConnections(() => server, make)
      afterEach(endAll)

      describe('an application that starts first', () => {
        test('has charges fail with a hint until it calls connect(), and none of them was taken', async () => {
          const { client, store } = create()
          for (const call of [charge(store), forgetStore(store, keyedPolicies(policy, 'key'))])
            expect((await failureOf(call)).message).toContain(CLOSED)
          await client.connect()
          expect(await takenOf(store)).toBe(0)
          expect((await takeOne(store, 'key', policy)).allowed).toBe(true)
        })

        test('has its charges answered by the first connection, however many they are', async () => {
          const { store } = open()
          const calls = Array.from({ length: 2000 }, () => charge(store))
          expect(allowedCount((await Promise.all(calls)).flat())).toBe(1000)
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
          await isReady(client)
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
          await isReady(client)
          expect(await takenOf(store)).toBe(0)
        })

        test('sees charges fail without an offline queue until the client is ready, and none was taken', async () => {
          const { client, store } = open({ disableOfflineQueue: true })
          expect(causeOf(await failureOf(charge(store)))).toContain('offline')
          await isReady(client)
          expect(await takenOf(store)).toBe(0)
          expect((await takeOne(store, 'key', policy)).allowed).toBe(true)
        })

        test('sees charges fail when the client gives up', async () => {
          await server.kill()
          const { store } = open({ socket: { reconnectStrategy: false } })
          await failureOf(charge(store))
          expect((await failureOf(charge(store))).message).toContain(CLOSED)
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
      })

      describe('a client that was ended', () => {
        test.each<[string, (client: NodeRedis) => unknown]>([
          ['destroy', (client) => client.destroy()],
          ['close', (client) => client.close()],
        ])('by %s fails charges at once, and works when it is connected again', async (_how, end) => {
          const { client, store } = await connected()
          await takeOne(store, 'key', policy)
          await end(client)
          for (const call of [charge(store), forgetStore(store, keyedPolicies(policy, 'key'))])
            expect((await failureOf(call)).message).toContain(CLOSED)
          await client.connect()
          expect(await takenOf(store)).toBe(1)
        })

        test('with charges in flight rejects them, and they were taken once or not at all', async () => {
          const { client, store } = await connected()
          const calls = Array.from({ length: 100 }, () => outcomeOf(charge(store)))
          await new Promise(setImmediate)
          client.destroy()
          const outcomes = await Promise.all(calls)
          for (const { verdict, error } of outcomes)
            expect(verdict ?? error).toMatchObject(verdict ? { allowed: true } : { name: 'StoreError' })
          expect(outcomes.filter(({ error }) => error)).not.toEqual([])
          await client.connect()
          expect(await takenOf(store)).toBeGreaterThanOrEqual(
            outcomes.filter(({ verdict }) => verdict).length,
          )
          expect(await takenOf(store)).toBeLessThanOrEqual(100)
        })
      })

      test('a client that only listens (RESP 2) fails charges with its reason, and none was taken', async () => {
        const { client, store } = await connected({ RESP: 2 })
        await takeOne(store, 'key', policy)
        await client.subscribe('news', () => undefined)
        expect(causeOf(await failureOf(charge(store)))).toContain("Can't execute")
        await client.unsubscribe('news')
        expect(await takenOf(store)).toBe(1)
      })

      test('a client that also listens (RESP 3) charges like any other', async () => {
        const { client, store } = await connected({ RESP: 3 })
        await client.subscribe('news', () => undefined)
        expect((await takeOne(store, 'key', policy)).remaining).toBe(policy.limit - 1)
      })
    },
  )
}
