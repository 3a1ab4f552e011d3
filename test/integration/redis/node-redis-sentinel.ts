import { setTimeout as pause } from 'node:timers/promises'
import { fixedWindow, type Store } from 'headgate'
import { redisStore } from 'headgate/redis'
import { createSentinel } from 'redis'
import { createSentinel as createSentinel5 } from 'redis5'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { allowedCount, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisSentinel, startRedisSentinel } from '../../support/servers/redis-sentinel.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore } from '../../support/store-calls.js'
import { failureOf, outcomeOf } from './outcomes.js'

type Client = ReturnType<typeof createSentinel>

const policy = fixedWindow({ limit: 1_000_000, window: LONG })

const MAKERS: readonly (readonly [string, typeof createSentinel])[] = [
  ['redis 6', createSentinel],
  ['redis 5', createSentinel5 as object as typeof createSentinel],
]

/** Defines the tests of clients of Sentinels of some versions of node-redis. */
export function describeNodeRedisSentinel(...versions: string[]): void {
  let group: RedisSentinel

  beforeAll(async () => {
    group = await startRedisSentinel()
  }, INSTALL_TIMEOUT_MS)

  afterAll(() => group?.stop())

  describe.each(MAKERS.filter(([version]) => versions.includes(version)))(
    'with a Sentinel client of %s',
    (_, create) => {
      let client: Client
      let store: Store

      async function open(masterPoolSize: number): Promise<void> {
        const sentinelRootNodes = group.sentinels.map(({ host, port }) => ({ host, port }))
        client = create({ name: group.name, sentinelRootNodes, masterPoolSize })
        client.on('error', () => undefined)
        store = redisStore(client)
        await client.connect()
      }

      beforeEach(() => group.master.cli('FLUSHALL'))

      afterEach(() => client?.destroy())

      const charge = () => chargeStore(store, [[part('key', policy)]])

      test('concurrent charges leave all leases of its pool to the application', async () => {
        await open(2)
        for (let i = 0; i < 5; i++) {
          const calls = Array.from({ length: 300 }, (_each, j) =>
            chargeStore(store, [[part(`key-${j}`, policy)]]),
          )
          expect(allowedCount((await Promise.all(calls)).flat())).toBe(300)
        }
        const leases = Promise.all([client.acquire(), client.acquire()])
        expect(await Promise.race([leases, pause(60_000, 'no lease', { ref: false })])).toHaveLength(2)
        await charge() // needs no lease
        for (const lease of await leases) lease.release()
      })

      test('after READONLY, charges fail while the master is looked for, and work once it is found', async () => {
        await open(1)
        await charge()
        const { host, port } = group.replica
        await group.master.cli('REPLICAOF', host, String(port))
        expect((await failureOf(charge())).message).toContain('READONLY')
        const failures = await Promise.all([failureOf(charge()), failureOf(charge())])
        for (const { message } of failures) expect(message).toContain('not connected')
        await group.master.cli('REPLICAOF', 'NO', 'ONE')
        await until('charges work again', async () => (await outcomeOf(charge())).verdict !== undefined)
      })

      test('charges go on while all Sentinels are away, as long as the master is connected', async () => {
        await open(1)
        await charge()
        await Promise.all(group.sentinels.map((sentinel) => sentinel.kill()))
        try {
          for (let i = 0; i < 10; i++) {
            await pause(50)
            const { verdict, error } = await outcomeOf(charge())
            expect({ error, allowed: verdict?.allowed }).toEqual({ error: undefined, allowed: true })
          }
        } finally {
          await Promise.all(group.sentinels.map((sentinel) => sentinel.restart()))
        }
        expect(await remainingOf(store, policy, ['key'])).toEqual([policy.limit - 11])
      })
    },
  )
}
