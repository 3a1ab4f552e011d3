import fc from 'fast-check'
import {
  ban,
  createLimiter,
  type Decision,
  type Limiter,
  memoryStore,
  type Policy,
  tokenBucket,
} from 'headgate'
import { LimiterWatch } from '../../src/dashboard/figures/limiter-watch.js'
import { type Inspection, inspectionOf } from '../../src/limiter/inspection.js'
import { bucketInterval, isBucketInterval } from '../../src/policies/bucket-grid.js'
import { policyFromSpec } from '../../src/policies/policy-from-spec.js'
import type { PolicySpec } from '../../src/policies/spec.js'
import { tokenBucketOf } from '../../src/policies/token-bucket.js'
import {
  type Curve,
  IN_FORCE,
  peakAtRate,
  RATES,
  smallestLimit,
  sumOf,
} from '../../src/tuning/demand-curve.js'
import { BASE_KINDS, costOf, shareUpTo, type Take, takes, waitMs } from './arbitrary-policies.js'

const { consecutive: _consecutive, ...COUNTED_KINDS } = BASE_KINDS
const START_MS = 1_790_000_000_000

let nowMs: number
const watches: LimiterWatch[] = []

function setTime(atMs: number): void {
  nowMs = atMs
  jest.setSystemTime(atMs) // a quota follows it
}

/** Creates a limiter in memory, and what a dashboard counts of it. */
function watched(policy: Policy, store = memoryStore({ clock: () => nowMs })) {
  const limiter = createLimiter<string>({ name: 'api', policy, key: (id) => id, store })
  const inspection = inspectionOf(limiter) as Inspection
  const watch = new LimiterWatch({ name: 'api', limiter: limiter as Limiter<never>, inspection }, () => nowMs)
  watches.push(watch)
  return { limiter, watch }
}

const withLimit = (policy: Policy, limit: number) =>
  policyFromSpec({
    ...policy.spec,
    limit,
    ...('capacity' in policy.spec && { capacity: limit }),
  } as PolicySpec)

type Charged = Pick<Limiter<string>, 'charge' | 'adjust'>

/** What becomes of a charge before the one that comes so many places after it: its cost, in sixteenths, or what is left. */
type Correction = readonly [after: number, sixteenths: number]

/**
 * Sends a trace through limiters, and returns whether each denied it at least once. `corrections` change in turn what
 * charges have cost.
 */
async function deniedBy(
  limiters: readonly Charged[],
  policy: Policy,
  trace: readonly Take[],
  corrections: readonly Correction[] = [],
) {
  const denied = limiters.map(() => false)
  const made: { cost: number; readonly decisions: readonly Decision[] }[] = []
  setTime(START_MS)
  for (const [step, take] of trace.entries()) {
    setTime(nowMs + Math.floor(waitMs(policy, take)))
    const [after = 0, sixteenths = 0] = corrections[step % corrections.length] ?? []
    const earlier = made[step - after]
    if (earlier !== undefined) {
      earlier.cost = Math.floor((earlier.cost * sixteenths) / 16)
      for (const [i, limiter] of limiters.entries())
        await limiter.adjust(earlier.decisions[i] as Decision, earlier.cost)
    }
    const cost = costOf(policy, take)
    const decisions: Decision[] = []
    for (const limiter of limiters) decisions.push(await limiter.charge('ada', { cost }))
    for (const [i, { allowed }] of decisions.entries()) if (!allowed) denied[i] = true
    made.push({ cost, decisions })
  }
  return denied
}

/** Charges limiters of one store in turn, as the processes of a server do. */
function inTurn(limiters: readonly Limiter<string>[]): Charged {
  const [first] = limiters as [Limiter<string>]
  let charges = 0
  return {
    charge(...charge) {
      const { [(charges++) ** 2 % limiters.length]: limiter = first } = limiters
      return limiter.charge(...charge)
    },
    adjust: first.adjust, // a decision knows where it was made
  }
}

function takenPeaks(watch: LimiterWatch): Curve {
  const [limit] = watch.takeDemands()
  return limit?.demands[0]?.peaks ?? [0]
}

const correctionsUpTo = (sixteenths: number) =>
  fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: sixteenths })), {
    minLength: 1,
    maxLength: 5,
  })
const refunds = correctionsUpTo(16)
const corrections = correctionsUpTo(24)
/** Limits that a trace does not reach. */
const UNREACHED = 1000
const limitShares = fc.array(shareUpTo(4), { minLength: 1, maxLength: 3 })

/** Tests that what a dashboard counts of demands is what real limiters with other numbers would have denied. */
export function testDemands(numRuns: number): void {
  beforeEach(() => jest.useFakeTimers())
  afterEach(() => {
    for (const watch of watches.splice(0)) watch.stop()
    jest.useRealTimers()
  })
  describe.each(Object.entries(COUNTED_KINDS))('%s', (kind, promised) => {
    test('a limit denies a client at least once if, and only if, its peak is larger', async () => {
      await fc.assert(
        fc.asyncProperty(promised, takes, limitShares, async ({ policy }, trace, shares) => {
          const limits = [
            policy.limit,
            ...shares.map((share) => Math.max(1, Math.round(share * policy.limit))),
          ]
          const { limiter, watch } = watched(policy)
          const others = limits
            .map((limit) => withLimit(policy, Math.min(1000, limit)))
            .map((other) => watched(other).limiter)
          const denied = await deniedBy([limiter, ...others], policy, trace)
          const [peak = 0] = [peakAtRate(takenPeaks(watch), 1)]
          expect(limits.map((limit) => peak > Math.min(1000, limit))).toEqual(denied.slice(1))
        }),
        { numRuns },
      )
    })

    test('so it is if charges are refunded, in part or whole', async () => {
      await fc.assert(
        fc.asyncProperty(promised, takes, limitShares, refunds, async ({ policy }, trace, shares, given) => {
          const limits = shares.map((share) =>
            Math.min(UNREACHED, Math.max(1, Math.round(share * policy.limit))),
          )
          const { limiter, watch } = watched(withLimit(policy, UNREACHED))
          const others = limits.map((limit) => watched(withLimit(policy, limit)).limiter)
          const [isReached, ...denied] = await deniedBy([limiter, ...others], policy, trace, given)
          fc.pre(isReached === false)
          const [peak = 0] = [peakAtRate(takenPeaks(watch), 1)]
          expect(limits.map((limit) => peak > limit)).toEqual(denied)
        }),
        { numRuns },
      )
    })

    test('so it is with a ban, whose denials are no demand', async () => {
      await fc.assert(
        fc.asyncProperty(
          promised,
          takes,
          fc.integer({ min: 1, max: 3 }),
          async ({ policy }, trace, after) => {
            const banned = ban(policy, { after, within: '1m', for: '1m' })
            const { limiter, watch } = watched(banned)
            const [denied] = await deniedBy([limiter], policy, trace)
            const demand = watch.takeDemands()[0]?.demands[0]
            expect([peakAtRate(demand?.peaks ?? [0], 1) > policy.limit, demand?.wasDenied ?? false]).toEqual([
              denied,
              denied,
            ])
          },
        ),
        { numRuns },
      )
    })

    test('what several processes count adds up to a bound of what they saw together', async () => {
      await fc.assert(
        fc.asyncProperty(
          promised,
          takes,
          fc.integer({ min: 2, max: 4 }),
          fc.option(refunds, { nil: [], freq: 2 }),
          async ({ policy }, trace, processes, given) => {
            const together = watched(withLimit(policy, UNREACHED))
            const store = memoryStore({ clock: () => nowMs })
            const shared = given.length > 0 ? withLimit(policy, UNREACHED) : policy // what is denied is not refunded
            const single = Array.from({ length: processes }, () => watched(shared, store))
            await deniedBy(
              [together.limiter, inTurn(single.map(({ limiter }) => limiter))],
              policy,
              trace,
              given,
            )
            // At faster refills, single counts take off less than a bucket gives back.
            const truth = takenPeaks(together.watch).slice(0, given.length > 0 ? IN_FORCE + 1 : undefined)
            const parts = single
              .map(({ watch }) => takenPeaks(watch))
              .filter((peaks) => Math.max(...peaks) > 0)
            const bound = parts.length === 0 ? [0] : parts.reduce(sumOf)
            const slack = kind === 'slidingWindow' ? Math.max(0, parts.length - 1) : 0
            const factor = kind.includes('first request') ? 2 : 1
            const isBound = truth.map(
              (peak, i) => factor * ((bound[i] ?? bound[0]) as number) + slack >= peak,
            )
            expect(isBound).toEqual(truth.map(() => true))
          },
        ),
        { numRuns },
      )
    })
  })

  describe('a token bucket at other rates', () => {
    const bucket = COUNTED_KINDS.tokenBucket
    const intervalOf = ({ spec }: Policy) => (spec.kind === 'token-bucket' ? spec.intervalMs : Number.NaN)
    /** A rate between those that are measured, or outside of them, and a limit. */
    const tried = fc.array(fc.tuple(shareUpTo(20), shareUpTo(4)), { minLength: 1, maxLength: 3 })

    test('is known exactly at the measured ones', async () => {
      await fc.assert(
        fc.asyncProperty(bucket, takes, shareUpTo(4), async ({ policy }, trace, share) => {
          const limit = Math.max(1, Math.round(share * policy.limit))
          const rates = RATES.filter((rate) => isBucketInterval(intervalOf(policy) / rate))
          const { limiter, watch } = watched(policy)
          const others = rates.map((rate) => watched(tokenBucketOf(limit, intervalOf(policy) / rate)).limiter)
          const [, ...denied] = await deniedBy([limiter, ...others], policy, trace)
          const peaks = takenPeaks(watch)
          expect(rates.map((rate) => peakAtRate(peaks, rate) > limit)).toEqual(denied)
        }),
        { numRuns },
      )
    })

    test('and between them, or if charges are refunded, is never more than the bound', async () => {
      await fc.assert(
        fc.asyncProperty(bucket, takes, tried, corrections, async ({ policy }, trace, pairs, given) => {
          const { limiter, watch } = watched(withLimit(policy, UNREACHED))
          const buckets = pairs.map(([rate, share]) =>
            tokenBucketOf(
              Math.max(1, Math.round(share * policy.limit)),
              bucketInterval(intervalOf(policy) / Math.max(0.05, rate)),
            ),
          )
          const [, ...denied] = await deniedBy(
            [limiter, ...buckets.map((each) => watched(each).limiter)],
            policy,
            trace,
            given,
          )
          const peaks = takenPeaks(watch)
          const mayDeny = buckets.map(
            (each) => peakAtRate(peaks, intervalOf(policy) / intervalOf(each)) > each.limit,
          )
          expect(denied.map((isDenied, i) => !isDenied || mayDeny[i])).toEqual(denied.map(() => true))
        }),
        { numRuns },
      )
    })

    test('and with another limit, the smallest that denies nothing does so', async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 16 }), takes, async (sixteenths, trace) => {
          const policy = tokenBucket({ capacity: 16 * sixteenths, refill: 16 * sixteenths, every: '16s' })
          const { limiter, watch } = watched(policy)
          await deniedBy([limiter], policy, trace)
          const peaks = takenPeaks(watch)
          const least = smallestLimit(peaks, policy.limit)
          const limits = [...RATES.map((rate) => rate * policy.limit), ...(least === 0 ? [] : [least])]
          const others = limits.map((each) => tokenBucket({ capacity: each, refill: each, every: '16s' }))
          const denied = await deniedBy(
            others.map((each) => watched(each).limiter),
            policy,
            trace,
          )
          expect(denied).toEqual(limits.map((limit) => limit < least))
        }),
        { numRuns },
      )
    })
  })
}
