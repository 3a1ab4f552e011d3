import { type Policy, quota } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { Part, State } from 'headgate/store'
import { evaluateCharge } from '../../../src/stores/shared/apply-batch.js'
import { chargeOne, figures, part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import { serverTimeMs } from './connect.js'
import { atRest, putAtRest } from './rest.js'
import { useRedis } from './use-redis.js'

const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS
const POLICIES = [
  quota({ limit: 5, per: 'day', timeZone: 'America/Havana' }),
  quota({ limit: 5, per: 'day', timeZone: '+05:45' }),
  quota({ limit: 5, per: 'week', timeZone: 'Asia/Beirut' }),
  quota({ limit: 5, per: 'month', timeZone: 'America/New_York', startsOn: 31 }),
  quota({ limit: 5, per: 'year', startsOn: '02-29' }),
]

const redis = useRedis()

beforeEach(() => redis.client.flushdb())
afterEach(() => jest.restoreAllMocks())

/** Sets this process's clock by so much forward, or back. */
function setClock(aheadMs: number): void {
  const now = Date.now
  jest.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs)
}

async function scriptCalls(): Promise<number> {
  const stats = await redis.client.info('commandstats')
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
}

/** Returns the periods around a moment: two before it, its own, and two after it. */
function periodsAround({ periodAt }: Policy, atMs: number) {
  if (periodAt === undefined) throw new Error('not a quota')
  const own = periodAt(atMs)
  const before = periodAt(own.startsAtMs - 1)
  const after = periodAt(own.endsAtMs)
  return [periodAt(before.startsAtMs - 1), before, own, after, periodAt(after.endsAtMs)]
}

describe.each([0, -DAY_MS, DAY_MS, -8 * DAY_MS, 40 * DAY_MS, -30 * YEAR_MS, 30 * YEAR_MS])(
  'with the clock of the process %d ms ahead, the clock of the server decides',
  (aheadMs) => {
    test('on states of any period', async () => {
      setClock(aheadMs)
      const store = redisStore(redis.client)
      const nowMs = await serverTimeMs(redis.client)
      for (const policy of POLICIES)
        for (const { startsAtMs, endsAtMs } of periodsAround(policy, nowMs))
          for (const awayMs of [0, 1, endsAtMs - startsAtMs - 1, 3 * YEAR_MS]) {
            const state: State = [4, startsAtMs + awayMs]
            for (const cost of [1, 2]) {
              await redis.client.flushdb()
              await putAtRest(redis.client, 'key', state)
              const { atMs, parts } = await chargeOne(store, part('key', policy, cost))
              const { next, ...expected } = policy.take(state, atMs, cost)
              expect(parts.map(figures)).toEqual([figures(expected)])
              expect([state, await atRest(redis.client, 'key')]).toEqual([state, next ?? state])
            }
          }
    })

    test('on charges of several quotas, and on adjustments', async () => {
      setClock(aheadMs)
      const store = redisStore(redis.client)
      const parts = POLICIES.map((policy, i): Part => part(`key-${i}`, policy, 3))
      const [first, second] = await chargeStore(store, [parts, parts])
      const atMs = first?.atMs ?? Number.NaN
      const { verdict, writes } = evaluateCharge(parts, () => undefined, atMs)
      expect(first).toMatchObject({ allowed: true, atMs, parts: verdict.parts.map(figures) })
      expect(second).toMatchObject({ allowed: false })
      for (const { key } of parts) expect(await atRest(redis.client, key)).toEqual(writes.get(key)?.state)
      const policy = POLICIES[3] as Policy
      const [taken] = await store.apply([{ type: 'take', key: 'key-3', policy, units: 9 }])
      expect(taken).toMatchObject({ taken: 2, remaining: 0 })
    })
  },
)

test('a call is sent once if the server is in a neighbouring period, and twice if it is further away', async () => {
  const [policy] = POLICIES as [Policy]
  const nowMs = await serverTimeMs(redis.client)
  const middleMs = DAY_MS / 2 - (nowMs - (policy.periodAt?.(nowMs).startsAtMs ?? 0)) // of the server's day
  const store = redisStore(redis.client)
  await chargeOne(store, part('key', policy))
  for (const [days, calls] of [
    [-2, 2],
    [-1, 1],
    [0, 1],
    [1, 1],
    [2, 2],
  ] as const) {
    setClock(middleMs + days * DAY_MS)
    const before = await scriptCalls()
    await chargeOne(store, part('key', policy, 0))
    expect([days, (await scriptCalls()) - before]).toEqual([days, calls])
    jest.restoreAllMocks()
  }
})
