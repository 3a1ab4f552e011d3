import { setTimeout as pause } from 'node:timers/promises'
import { fixedWindow, type Store } from 'headgate'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { keyedPolicies, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, forgetStore, refundStore, takeOne } from '../../support/store-calls.js'
import { chargeRepeatedly, faultsIn, newTally } from '../../support/tally.js'
import { type AnyConnection, driversOf } from './any-client.js'
import { breakWhileWaiting } from './break-while-waiting.js'
import { NODE_REDIS, nodeRedisConnections } from './node-redis.js'
import { failureOf, outcomeOf } from './outcomes.js'

const policy = fixedWindow({ limit: 1_000_000, window: LONG })

/** Defines the tests of connections that break, of some versions of ioredis and of node-redis. */
export function describeReconnecting(...versions: string[]): void {
  let server: RedisServer

  beforeAll(async () => {
    server = await startRedis({ own: true })
  }, INSTALL_TIMEOUT_MS)

  afterAll(() => server?.stop())

  beforeEach(() => server.cli('FLUSHALL'))

  const takenOf = async (store: Store) => policy.limit - ((await remainingOf(store, policy, ['key']))[0] ?? 0)
  const charge = (store: Store) => chargeStore(store, [[part('key', policy)]])
  const untilReady = (client: Pick<AnyConnection, 'isReady'>) =>
    until('the client is ready', () => client.isReady(), { everyMs: 1 })

  describe.each(driversOf(versions))('a connection of $name that breaks and comes back at once', (driver) => {
    const { connected, endAll } = driver.connections(() => server)
    afterEach(endAll)

    test('fails the charges in flight; later ones are answered', async () => {
      const client = await connected()
      const { store } = client
      await takeOne(store, 'key', policy)
      for (let round = 0; round < 3; round++) {
        const lost: ReturnType<typeof failureOf>[] = []
        await breakWhileWaiting(server, String(await client.send('CLIENT', 'ID')), () => {
          for (let i = 0; i < 5; i++) lost.push(failureOf(charge(store)))
        })
        for (const { message } of await Promise.all(lost)) expect(message).toContain('connection was lost')
        await untilReady(client)
        expect(await takenOf(store)).toBe(1)
      }
    })

    test('fails the refunds and forgets in flight', async () => {
      const client = await connected()
      const { store } = client
      await takeOne(store, 'key', policy, 2)
      const lost: ReturnType<typeof failureOf>[] = []
      await breakWhileWaiting(server, String(await client.send('CLIENT', 'ID')), () => {
        lost.push(failureOf(refundStore(store, [{ ...part('key', policy), takenAtMs: Date.now() }])))
        lost.push(failureOf(forgetStore(store, keyedPolicies(policy, 'key'))))
      })
      await Promise.all(lost)
      await untilReady(client)
      expect(await takenOf(store)).toBe(2)
      await forgetStore(store, keyedPolicies(policy, 'key'))
      expect(await takenOf(store)).toBe(0)
    })

    test('repeatedly under load leaves no charge pending and counts none twice', async () => {
      const client = await connected({ reconnectAfterMs: 5 })
      const { store } = client
      const tally = newTally()
      let isOver = false
      const load = { parts: [part('key', policy)], callers: 20, tally, goesOn: () => !isOver }
      const charging = chargeRepeatedly(store, load)
      const kill = async () => {
        for (let i = 0; i < 15; i++) {
          await untilReady(client)
          await pause(15)
          await server.cli('CLIENT', 'KILL', 'TYPE', 'normal')
        }
      }
      const killing = kill().finally(() => {
        isOver = true
      })
      await Promise.all([charging, killing])
      // The client may not have noticed the last loss yet.
      const taken = await until('charges work again', () => takenOf(store))
      expect(tally.allowed).toBeGreaterThan(0)
      expect(faultsIn(tally, taken)).toEqual({ lost: 0, doubled: 0 })
    })
  })

  describe.each(NODE_REDIS.filter(([version]) => versions.includes(version)))(
    'a connection of %s that takes no more',
    (_, make) => {
      const { connected, endAll } = nodeRedisConnections(() => server, make)
      afterEach(endAll)

      test('fails charges that it could not write before, and never takes them', async () => {
        const { client, store } = await connected()
        await takeOne(store, 'key', policy)
        await server.kill('SIGSTOP')
        const large = ['SET', 'filler', 'x'.repeat(2 ** 24)] // more than the sockets buffer
        const fillers = [1, 2].map(() => client.sendCommand(large).catch(() => undefined))
        await new Promise(setImmediate)
        const unwritten = [failureOf(charge(store)), failureOf(charge(store))]
        await pause(20)
        await server.kill('SIGKILL')
        for (const { message } of await Promise.all(unwritten))
          expect(message).toContain('the connection was lost')
        await server.restart()
        await untilReady({ isReady: () => client.isReady })
        await Promise.all(fillers)
        expect(await takenOf(store)).toBe(0) // the server has lost what was taken before
      })

      test('leaves the charges in flight alone at an error event', async () => {
        const { client, store } = await connected()
        await server.kill('SIGSTOP')
        const large = ['SET', 'filler', 'x'.repeat(2 ** 24)] // more than the sockets buffer
        const fillers = [1, 2].map(() => client.sendCommand(large))
        await new Promise(setImmediate)
        const unwritten = outcomeOf(charge(store))
        await pause(20)
        client.emit('error', new Error('a failed ping'))
        await server.kill('SIGCONT')
        expect((await unwritten).verdict).toMatchObject({ allowed: true })
        await Promise.all(fillers)
      })
    },
  )
}
