import {
  ban,
  consecutive,
  createLimiter,
  fixedWindow,
  type Limiter,
  type Policy,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { lookUp } from '../../../src/dashboard/actions/lookup.js'
import { type Inspection, inspectionOf } from '../../../src/limiter/inspection.js'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { until } from '../../support/servers/wait.js'
import { kindsNamed, type Started, type StoreName } from '../store-kinds.js'

const LIMIT = 40
const PROCESSES = 3
const BAN = { after: 1000, within: LONG, for: ['1h', LONG] } as const

const POLICIES: Readonly<Record<string, Policy>> = {
  bucket: tokenBucket({ capacity: LIMIT, refill: LIMIT, every: LONG }),
  sliding: slidingWindow({ limit: LIMIT, window: LONG }),
  fixed: fixedWindow({ limit: LIMIT, window: LONG }),
  first: fixedWindow({ limit: LIMIT, window: LONG, startsAt: 'first-request' }),
  consecutive: consecutive({ limit: LIMIT }),
  ban: ban(slidingWindow({ limit: LIMIT, window: LONG }), BAN),
}

const key = (id: string) => id

/** Defines the tests of adjustments in some kinds of store. */
export function describeAdjustments(...names: StoreName[]): void {
  describe.each(kindsNamed(...names))('adjustments in $name', (kind) => {
    let started: Started

    beforeAll(async () => {
      started = await kind.start()
    }, INSTALL_TIMEOUT_MS)

    afterAll(() => started?.stop())

    // memcached has two strategies; the other stores change all states alike.
    const policies = kind.name === 'memcached' ? Object.keys(POLICIES) : ['bucket', 'sliding', 'ban']

    /** Creates limiters of one name, each on a client of its own, as several processes have them. */
    const limitersOf = (name: string): Promise<Limiter<string>[]> =>
      Promise.all(
        Array.from({ length: PROCESSES }, async () => {
          const store = await started.makeStore()
          const policy = POLICIES[name] as Policy
          return createLimiter<string>({ policy, key, store, name, denyCache: false, timeout: 5000 })
        }),
      )

    /** Runs calls of all limiters at the same time. */
    const inEach = <T>(
      limiters: readonly Limiter<string>[],
      count: number,
      call: (of: Limiter<string>) => T,
    ) => Promise.all(limiters.flatMap((limiter) => Array.from({ length: count }, async () => call(limiter))))

    /**
     * Checks that as many units as a peek shows can still be taken, and no more. Returns how many are taken.
     */
    async function takenOf(limiters: readonly Limiter<string>[], id: string): Promise<number> {
      const [limiter] = limiters as [Limiter<string>]
      const { remaining } = await limiter.peek(id)
      expect(remaining).toBeLessThanOrEqual(LIMIT)
      expect((await limiter.charge(id, { cost: remaining + 1 })).allowed).toBe(false)
      if (remaining > 0) expect((await limiter.charge(id, { cost: remaining })).allowed).toBe(true)
      return LIMIT - remaining
    }

    test.each(policies)('a %s admits no more than its limit beside penalties', async (name) => {
      const limiters = await limitersOf(name)
      const [decisions] = await Promise.all([
        inEach(limiters, 6, (limiter) => limiter.charge('ada')),
        inEach(limiters, 6, (limiter) => limiter.penalize('ada', 1)),
      ])
      const allowed = decisions.filter((decision) => decision.allowed).length
      expect(allowed).toBe(6 * PROCESSES) // 36 of 40 units in all
      expect(await takenOf(limiters, 'ada')).toBe(12 * PROCESSES)
    })

    test.each(policies)('a %s never gives back more than was taken', async (name) => {
      const limiters = await limitersOf(name)
      const [decisions] = await Promise.all([
        inEach(limiters, 5, (limiter) => limiter.charge('bob', { cost: 2 })),
        inEach(limiters, 4, (limiter) => limiter.reward('bob', 3)),
        inEach(limiters, 3, (limiter) => limiter.penalize('bob', LIMIT)),
      ])
      const allowed = decisions.filter((decision) => decision.allowed).length
      expect(allowed).toBeLessThanOrEqual(5 * PROCESSES)
      await takenOf(limiters, 'bob')
      await limiters[0]?.reward('bob', 10 * LIMIT)
      expect(await limiters[1]?.peek('bob')).toMatchObject({ remaining: LIMIT })
      expect((await limiters[2]?.charge('bob', { cost: LIMIT + 1 }))?.allowed).toBe(false)
    })

    test('a block by one process denies in all, until forget', async () => {
      const limiters = await limitersOf('ban')
      await inEach(limiters, 2, (limiter) => limiter.blockFor('eve', '1h'))
      for (const limiter of limiters) {
        const { allowed, remaining, retryAfterMs } = await limiter.charge('eve')
        expect({ allowed, remaining }).toEqual({ allowed: false, remaining: 0 })
        expect(retryAfterMs).toBeGreaterThan(3_500_000)
        expect(retryAfterMs).toBeLessThanOrEqual(3_600_000)
      }
      await limiters[0]?.forget('eve')
      expect((await limiters[1]?.charge('eve'))?.remaining).toBe(LIMIT - 1)
    })

    test('a look-up shows what each plan leaves, of those that share a key', async () => {
      const plans = [LIMIT, 3 * LIMIT].map((capacity) =>
        tokenBucket({ capacity, refill: capacity, every: LONG }),
      )
      const limiter = createLimiter<number>({
        policy: (plan) => plans[plan] as Policy,
        key: () => 'dora',
        store: await started.makeStore(),
        name: 'plans',
        denyCache: false,
        timeout: 5000,
      })
      const inspection = inspectionOf(limiter) as Inspection
      const watched = { name: 'plans', limiter: limiter as Limiter<never>, inspection }
      const left = (used: number) => [LIMIT, 3 * LIMIT].map((limit) => ({ limit, remaining: limit - used }))
      for (const [i, plan] of [0, 1, 0].entries()) {
        await limiter.charge(plan)
        const plansUsed = Math.min(i + 1, 2)
        const standings = await until('the limiter has published the plan', async () => {
          const { standings } = await lookUp(watched, 'dora')
          return standings.length === plansUsed ? standings : undefined
        })
        expect(standings).toMatchObject(left(i + 1).slice(0, plansUsed))
      }
    })

    test('an adjusted decision is refunded whole', async () => {
      const limiters = await limitersOf('sliding')
      const [first, second] = limiters as [Limiter<string>, Limiter<string>]
      const decision = await first.charge('carl', { cost: 2 })
      await first.adjust(decision, 12)
      expect((await second.peek('carl')).remaining).toBe(LIMIT - 12)
      await first.adjust(decision, 7)
      expect((await second.peek('carl')).remaining).toBe(LIMIT - 7)
      await first.refund(decision)
      expect((await second.peek('carl')).remaining).toBe(LIMIT)
    })
  })
}
