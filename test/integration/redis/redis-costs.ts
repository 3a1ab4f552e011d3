import { consecutive, fixedWindow, type Policy, type Store, slidingWindow, tokenBucket } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { ChargeResult, Part } from 'headgate/store'
import type { Redis } from 'ioredis'
import { signatureOf } from '../../../src/policies/policy.js'
import { LONG, LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { allowedCount, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { chargeStore } from '../../support/store-calls.js'
import type { Extent } from '../../support/store-conformance.js'
import { connect, dumpAll } from './connect.js'
import { modelStore } from './model.js'
import { expectAtRest } from './rest.js'

const MOST = Number.MAX_SAFE_INTEGER

/** Of each kind, and with the largest limit. */
const FEW_POLICIES: readonly Policy[] = [
  ...LONG_POLICIES.map(([, make]) => make(5)),
  fixedWindow({ limit: MOST, window: LONG }),
  // Time goes on for these while they are charged.
  slidingWindow({ limit: 5, window: '1ms', slices: 1 }),
  tokenBucket({ capacity: 1, refill: 1, every: '1ms' }),
]

const MORE_POLICIES: readonly Policy[] = [
  ...LONG_POLICIES.flatMap(([, make]) => [make(1), make(1000)]),
  slidingWindow({ limit: 5, window: LONG, slices: 1 }),
  slidingWindow({ limit: 5, window: LONG, slices: 100 }),
  slidingWindow({ limit: 7, window: '10y', slices: 100 }),
  tokenBucket({ capacity: 1, refill: 1, every: '10y' }),
  tokenBucket({ capacity: 100, refill: 100, every: '10y' }),
  fixedWindow({ limit: 5, window: '10y' }),
  slidingWindow({ limit: MOST, window: LONG, slices: 3 }),
  consecutive({ limit: MOST }),
  // Time goes on for these while they are charged.
  slidingWindow({ limit: 5, window: '10ms', slices: 10 }),
  fixedWindow({ limit: 1, window: '1ms' }),
  tokenBucket({ capacity: 10_000, refill: 10_000, every: '1s' }),
  tokenBucket({ capacity: 1, refill: 1_024_000, every: '1s' }), // an interval of 4/4096 ms
]
/** Defines the tests of costs from 0 to the largest number, for a few policies or for many. */
export function describeCosts(extent: Extent): void {
  const policies = extent === 'all' ? [...FEW_POLICIES, ...MORE_POLICIES] : FEW_POLICIES
  const NAMED = policies.map((policy) => [signatureOf(policy), policy] as const)

  let server: RedisServer
  let client: Redis
  let store: Store

  beforeAll(async () => {
    server = await startRedis()
    client = await connect(server.url)
    store = redisStore(client)
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    client?.disconnect()
    await server?.stop()
  })

  beforeEach(() => client.flushdb())

  /** From a peek to more than a number can count, twice: at a fresh key and at a used one. */
  function costsFor({ limit }: Policy): number[] {
    const half = Math.ceil(limit / 2)
    const costs = [0, limit + 1, MOST, 1, 0, half, limit, 1, limit + 1, MOST, half, 1, 0]
    return costs.filter((cost) => cost <= MOST)
  }

  /** Charges each of these in one call, and then one after the other, and compares what lies at rest. */
  async function expectAsTyped(charges: readonly Parts[]): Promise<ChargeResult[]> {
    const model = modelStore(store)
    const verdicts = [...(await model.charge(charges))]
    for (const charge of charges) verdicts.push(...(await model.charge([charge])))
    for (const [key, { policy, state }] of model.states) await expectAtRest(client, key, policy, state)
    return verdicts
  }

  describe('costs from 0 to the largest number are decided as in TypeScript', () => {
    test.each(NAMED)('each on a key of its own, and all on one: %s', async (_, policy) => {
      const costs = costsFor(policy)
      const verdicts = await expectAsTyped([
        ...costs.map((cost, i) => [part(`own-${i}`, policy, cost)]),
        ...costs.map((cost) => [part('hot', policy, cost)]),
      ])
      const tooMuch = costs.filter((cost) => cost > policy.limit).length
      expect(
        verdicts.filter(({ parts: [one] }) => one?.retryAfterMs === Number.POSITIVE_INFINITY).length,
      ).toBeGreaterThanOrEqual(4 * tooMuch)
    })

    test.each(NAMED)('among charges of other policies and of many parts: %s', async (_, policy) => {
      const other = fixedWindow({ limit: 1000, window: LONG })
      const charges = costsFor(policy).flatMap((cost): Parts[] => [
        [part('hot', policy, cost)],
        [part('hot', policy, cost), part('other', other)],
        [part('other', other, 2), part('hot', policy, cost), part('hot', policy)],
      ])
      await expectAsTyped(charges)
    })
  })

  describe('mixed batches are decided as in TypeScript', () => {
    const sorts: readonly Policy[] = [
      ...LONG_POLICIES.map(([, make]) => make(7)),
      slidingWindow({ limit: 9, window: LONG, slices: 1 }),
      slidingWindow({ limit: 8, window: LONG, slices: 100 }),
      tokenBucket({ capacity: 10_000, refill: 10_000, every: '1s' }),
    ]
    const of = (owner: string, at: number, cost = 1): Part => {
      const policy = sorts[at % sorts.length] as Policy
      return part(`${owner}:${signatureOf(policy)}`, policy, cost)
    }

    test.each<[string, (i: number) => Parts]>([
      ['several policies, each on a key of its own', (i) => [of(`owner-${i % 11}`, i, i % 4)]],
      ['several policies of one identity, one by one', (i) => [of('one', i, i % 4)]],
      [
        'several policies of one identity, all at once',
        (i) => sorts.map((_, at) => of(`owner-${i % 5}`, at, i % 3)),
      ],
      [
        'charges of one part and of many',
        (i) => Array.from({ length: 1 + (i % 5) }, (_, at) => of('one', i + at)),
      ],
      [
        'two keys in opposite orders',
        (i) => (i % 2 === 0 ? [of('a', 0), of('b', 1)] : [of('b', 1), of('a', 0)]),
      ],
      ['one key several times in a charge', (i) => [of('one', 2), of('one', i), of('one', 2, i % 3)]],
      ['a hot key with costs up and down', (i) => [of('hot', 2, (i * 3) % 8)]],
    ])('%s', async (_, chargeOf) => {
      const verdicts = await expectAsTyped(Array.from({ length: 60 }, (_each, i) => chargeOf(i)))
      expect(allowedCount(verdicts)).toBeGreaterThan(0)
    })

    test('including an empty call and an empty charge, which take nothing and are allowed', async () => {
      expect(await chargeStore(store, [])).toEqual([])
      const [verdict] = await modelStore(store).charge([[]])
      expect(verdict).toMatchObject({ allowed: true, parts: [] })
      expect(verdict?.atMs).toBeGreaterThan(0)
    })
  })

  test('a bucket of 10,000 a second admits exactly its content and its refill in 100 ms of overload', async () => {
    const policy = tokenBucket({ capacity: 10_000, refill: 10_000, every: '1s' }) // not full again before a whole second
    const { intervalMs } = policy.spec as { intervalMs: number }
    const mixed = Array.from({ length: 200 }, (_, i): Parts => [part('key', policy, 1 + (i % 3))])
    const single = mixed.map((): Parts => [part('key', policy)])
    const batches: { charges: Parts[]; verdicts: readonly ChargeResult[] }[] = []
    const timeOf = (at: number) => batches.at(at)?.verdicts[0]?.atMs ?? 0
    const all: Parts[] = [[part('key', policy, policy.limit)]] // so that a slow machine does not see it full again
    batches.push({ charges: all, verdicts: await chargeStore(store, all) })
    while (timeOf(-1) - timeOf(0) < 100) {
      for (const charges of [mixed, single])
        batches.push({ charges, verdicts: await chargeStore(store, charges) })
    }
    const model = modelStore(store)
    let taken = 0
    for (const { charges, verdicts } of batches) {
      model.check(charges, verdicts)
      taken += charges.reduce((sum, [one], i) => sum + (verdicts[i]?.allowed ? (one?.cost ?? 0) : 0), 0)
    }
    const last = batches.at(-1)?.verdicts.at(-1) as ChargeResult
    const admitted = taken + (last.parts[0]?.remaining ?? 0)
    const expected = policy.limit + (last.atMs - timeOf(0)) / intervalMs
    expect(Math.abs(admitted - expected)).toBeLessThanOrEqual(1)
  })

  describe('an invalid cost', () => {
    const policy = fixedWindow({ limit: 5, window: LONG })
    const bucket = tokenBucket({ capacity: 5, refill: 5, every: LONG })
    const wrong = (key: string, cost: unknown): Part => ({ key, policy, cost: cost as number })

    test.each<[string, unknown]>([
      ['NaN', Number.NaN],
      ['a negative number', -1],
      ['Infinity', Number.POSITIVE_INFINITY],
      ['-Infinity', Number.NEGATIVE_INFINITY],
      ['more than a safe integer', 2 ** 53],
      ['a fraction', 1.5],
      ['undefined', undefined],
      ['null', null],
      ['true', true],
      ['a text', '2'],
      ['a list', [2]],
      ['a bigint', 2n],
    ])('is an error, and no charge is half taken: %s', async (_, cost) => {
      await chargeStore(store, [[part('held', policy, 2)]])
      const before = await dumpAll(client)
      const batches: Parts[][] = [
        [[wrong('held', cost)]],
        [[part('held', policy)], [wrong('new', cost)], [part('late', policy)]],
        [[part('held', policy)], [wrong('held', cost)]],
        [[part('a', policy), wrong('held', cost), part('b', bucket)]],
        [[part('c', bucket), part('held', policy)], [wrong('d', cost)], [part('e', bucket)]],
      ]
      for (const charges of batches) {
        await expect(Promise.resolve(chargeStore(store, charges))).rejects.toThrow(Error)
        expect(await dumpAll(client)).toEqual(before)
      }
      expect(await remainingOf(store, policy, ['held'])).toEqual([3])
    })

    test.each<[string, (at: number) => Parts]>([
      ['of one policy', (at) => [part(`key-${at}`, policy)]],
      ['of several', (at) => [part(`key-${at}`, policy), part(`bucket-${at}`, bucket)]],
    ])(
      'by one caller leaves others of the same turn alone, or takes nothing of theirs: charges %s',
      async (_, chargeOf) => {
        const calls = Array.from({ length: 40 }, (_each, at) => {
          return chargeStore(store, [at === 20 ? [wrong('spoilt', Number.NaN)] : chargeOf(at)])
        })
        const outcomes = await Promise.allSettled(calls)
        expect(outcomes[20]?.status).toBe('rejected')
        for (const [at, outcome] of outcomes.entries()) {
          const wasTaken = (await client.exists(`key-${at}`)) === 1
          expect(wasTaken).toBe(outcome.status === 'fulfilled')
        }
        expect(await client.exists('spoilt')).toBe(0)
      },
    )
  })
}
