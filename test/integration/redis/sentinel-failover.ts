import { setTimeout as pause } from 'node:timers/promises'
import { consecutive, type Store, StoreError } from 'headgate'
import type { Redis } from 'ioredis'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { part } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisSentinel, startRedisSentinel } from '../../support/servers/redis-sentinel.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, takeOne } from '../../support/store-calls.js'
import { connect } from './connect.js'
import { failureOf, outcomeOf } from './outcomes.js'
import { atRest } from './rest.js'
import { SENTINEL_DRIVERS, type SentinelClient } from './sentinel-drivers.js'

const CALLERS = 10
const NEVER_USED_UP = consecutive({ limit: 1_000_000_000 })
/** Half of it is taken before the master is killed, the rest after the failover. */
const LIMITED = consecutive({ limit: 1000 })
/** All of it is taken before, and the replica knows. */
const USED_UP = consecutive({ limit: 100 })

/** What became of the charges of one key. */
class Tally {
  /** Admitted by the master that is killed. */
  before = 0
  /** Admitted by the one that comes after it. */
  after = 0
  denied = 0
  /** Not sent, since there was no connection. */
  refused = 0
  /** Sent, and the answer was lost. */
  unknown = 0
}

/** Defines the tests of a driver's client while the master of a Sentinel group fails. */
export function describeFailover(driver: keyof typeof SENTINEL_DRIVERS): void {
  describe(`with a client of ${driver},`, () => {
    let group: RedisSentinel
    let client: SentinelClient
    let replica: Redis
    let store: Store

    beforeAll(async () => {
      group = await startRedisSentinel()
      client = await SENTINEL_DRIVERS[driver](group)
      replica = await connect(group.replica.url)
      store = client.store
    }, INSTALL_TIMEOUT_MS)

    afterAll(async () => {
      await client?.end()
      replica?.disconnect()
      await group?.stop()
    })

    /** Callers that charge both keys repeatedly until they are stopped. */
    function startLoad() {
      const open = new Tally()
      const limited = new Tally()
      const load = { open, limited, longestMs: 0, strange: [] as unknown[], failedLast: 0 }
      let isLost = false
      let isOver = false
      client.onLoss(() => {
        isLost = true
      })

      async function charge(tally: Tally, key: string, policy: typeof LIMITED): Promise<void> {
        const { verdict, error, tookMs } = await outcomeOf(chargeStore(store, [[part(key, policy)]]), 3000)
        load.longestMs = Math.max(load.longestMs, tookMs)
        if (verdict === undefined) load.failedLast = performance.now()
        if (verdict?.allowed) tally[isLost ? 'after' : 'before']++
        else if (verdict !== undefined) tally.denied++
        else if (error instanceof StoreError && error.message.includes('not connected')) tally.refused++
        else if (error instanceof StoreError && /lost/.test(error.message)) tally.unknown++
        else load.strange.push(error)
      }

      const callers = Array.from({ length: CALLERS }, async () => {
        while (!isOver) {
          await Promise.all([charge(open, 'open', NEVER_USED_UP), charge(limited, 'limited', LIMITED)])
          await pause(5)
        }
      })
      const stop = async () => {
        isOver = true
        await Promise.all(callers)
      }
      return Object.assign(load, { stop })
    }

    const heldBy = async (server: Redis, key: string) => (await atRest(server, key))?.[0] ?? 0

    test('a charge in flight when the connection breaks fails at once, and is never taken', async () => {
      const { master } = group
      await takeOne(store, 'broken', USED_UP)
      await master.cli('CLIENT', 'PAUSE', 10_000, 'WRITE')
      const lost = failureOf(chargeStore(store, [[part('broken', USED_UP)]]))
      await until('the master holds it back', async () =>
        /blocked_clients:[1-9]/.test(await master.cli('INFO', 'clients')),
      )
      await master.cli('CLIENT', 'KILL', 'TYPE', 'normal')
      expect((await lost).message).toContain('the connection was lost')
      await master.cli('CLIENT', 'UNPAUSE')
      const peek = () => outcomeOf(chargeStore(store, [[part('broken', USED_UP, 0)]]))
      await until('charges work again', async () => (await peek()).verdict !== undefined)
      expect((await peek()).verdict?.parts).toMatchObject([{ remaining: USED_UP.limit - 1 }])
    })

    test('when the master is killed under load, charges fail soon, work again by themselves, and none counts twice', async () => {
      const used = await chargeStore(
        store,
        Array.from({ length: 101 }, () => [part('used-up', USED_UP)]),
      )
      expect(used.filter(({ allowed }) => allowed)).toHaveLength(100)
      await until('the replica knows', async () => (await heldBy(replica, 'used-up')) === 100)

      const load = startLoad()
      const { open, limited } = load
      try {
        await until('half of the limit is taken', () => limited.before >= LIMITED.limit / 2, { everyMs: 1 })
        const replicated = { open: await heldBy(replica, 'open'), limited: await heldBy(replica, 'limited') }
        await group.master.kill('SIGKILL')
        const killedAt = performance.now()
        await group.promoted(group.replica)
        await until('charges work again', () => open.after > 0)
        const awayMs = performance.now() - killedAt
        await until('the other half of the limit is taken', () => limited.denied > CALLERS)
        await load.stop()

        // Callers never wait for the failover, and get a StoreError with its reason while it lasts.
        expect(load.strange).toEqual([])
        expect(load.longestMs).toBeLessThan(awayMs)
        expect(load.failedLast).toBeLessThan(killedAt + awayMs)
        expect(open.refused).toBeGreaterThan(CALLERS)
        expect(open.unknown).toBeLessThanOrEqual(CALLERS)

        // The new master knew no script and got the text: the calls that found that out are among those that
        // worked.
        const commands = await replica.info('commandstats')
        expect(commands).toMatch(/cmdstat_evalsha:.*failed_calls=[1-9]/)
        expect(commands).toMatch(/cmdstat_eval:calls=[1-9]/)

        // What was admitted was taken, but for what the old master had not yet replicated; and nothing was taken
        // twice.
        const taken = await heldBy(replica, 'open')
        expect(taken).toBeGreaterThanOrEqual(replicated.open + open.after)
        expect(taken).toBeLessThanOrEqual(open.before + open.unknown + open.after)
        expect(await heldBy(replica, 'limited')).toBe(LIMITED.limit)
        const admitted = limited.before + limited.after
        expect(admitted).toBeGreaterThanOrEqual(LIMITED.limit - limited.unknown)
        expect(admitted).toBeLessThanOrEqual(LIMITED.limit + limited.before - replicated.limited)
        expect(limited.before).toBeLessThanOrEqual(LIMITED.limit)
        expect(limited.after).toBeLessThanOrEqual(LIMITED.limit)
      } finally {
        await load.stop()
      }

      // What the replica had was not lost: not one more was admitted.
      expect((await takeOne(store, 'used-up', USED_UP)).allowed).toBe(false)
    })

    test.each(LONG_POLICIES)(
      'after a failover, the new master decides as the old one did: %s',
      async (name, policyOf) => {
        const policy = policyOf(3)
        const verdicts = await chargeStore(
          store,
          Array.from({ length: 5 }, () => [part(name, policy)]),
        )
        expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false])
      },
    )

    test('the store survives a failover on command', async () => {
      await group.master.restart()
      await until('the old master follows', async () => (await group.master.cli('ROLE')).startsWith('slave'))
    })
  })
}
