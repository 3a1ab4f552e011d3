import * as fc from 'fast-check'
import {
  ban,
  consecutive,
  fixedWindow,
  type Policy,
  quota,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { redisStore } from 'headgate/redis'
import type { Part, State } from 'headgate/store'
import { baseOf, keyCodeOf } from '../../../src/policies/spec.js'
import { evaluateCharge } from '../../../src/stores/shared/apply-batch.js'
import { figures, part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, refundStore, type TakenUnits } from '../../support/store-calls.js'
import { serverTimeMs } from './connect.js'
import { atRest, expectAtRest } from './rest.js'
import { useRedis } from './use-redis.js'

const BAN = ban(slidingWindow({ limit: 6, window: 3_600_007, slices: 3 }), {
  after: 2,
  within: '1h',
  for: ['1h', '2h'],
})

/**
 * Long ones, whose states stay, and short ones, which real time refills while the trace runs. Those have their
 * own keys, since a state is forgotten at the end of the window that it was written under.
 */
const POLICIES: readonly Policy[] = [
  tokenBucket({ capacity: 5, refill: 7, every: '1h' }),
  slidingWindow({ limit: 6, window: 3_600_007, slices: 3 }),
  slidingWindow({ limit: 4, window: '30d' }),
  fixedWindow({ limit: 3, window: '1d' }),
  fixedWindow({ limit: 3, window: '1d', startsAt: 'first-request' }),
  consecutive({ limit: 4 }),
  tokenBucket({ capacity: 3, refill: 700, every: '1s', onChange: 'reset' }),
  slidingWindow({ limit: 5, window: '17ms', slices: 4 }),
  slidingWindow({ limit: 3, window: '9ms', slices: 1 }),
  fixedWindow({ limit: 3, window: '5ms', onChange: 'reset' }),
  fixedWindow({ limit: 3, window: '5ms', startsAt: 'first-request', onChange: 'reset' }),
  BAN,
  BAN.uncounted as Policy,
  ban(consecutive({ limit: 4 }), { after: 3, within: '1h', for: ['1h'], onAttempt: 'restart' }),
  ban(tokenBucket({ capacity: 3, refill: 700, every: '1s', onChange: 'reset' }), {
    after: 2,
    within: '20ms',
    for: ['3ms', '9ms'],
  }),
  ban(fixedWindow({ limit: 3, window: '5ms', onChange: 'reset' }), {
    after: 1,
    within: '5ms',
    for: ['2ms', '4ms'],
    onAttempt: 'restart',
  }),
  ban(fixedWindow({ limit: 3, window: '5ms', startsAt: 'first-request', onChange: 'reset' }), {
    after: 2,
    within: '9ms',
    for: ['2ms', '4ms'],
  }),
  tokenBucket({ capacity: 9, refill: 5, every: '30m', debt: 4 }),
  tokenBucket({ capacity: 4, refill: 3, every: '2h' }),
  tokenBucket({ capacity: 6_000_000, refill: 7_000_000, every: '1s', onChange: 'reset' }),
  slidingWindow({ limit: 9, window: '2h', slices: 7, debt: 3 }),
  slidingWindow({ limit: 3, window: 3_600_007, slices: 3 }),
  fixedWindow({ limit: 6, window: '1h', debt: 2 }),
  fixedWindow({ limit: 5, window: '1d', onChange: 'reset' }),
  fixedWindow({ limit: 6, window: '2d', startsAt: 'first-request' }),
  consecutive({ limit: 2 }),
  consecutive({ limit: 7, onChange: 'reset' }),
  ban(slidingWindow({ limit: 4, window: '2h', slices: 5 }), { after: 3, within: '1h', for: ['2h', '2h'] }),
  ban(consecutive({ limit: 3 }), { after: 1, within: '1h', for: ['1h'] }),
  quota({ limit: 5, per: 'month', timeZone: 'America/New_York', startsOn: 31 }),
  quota({ limit: 7, per: 'day', timeZone: '+05:45', debt: 3 }),
  quota({ limit: 6, per: 'year', startsOn: '02-29' }),
  quota({ limit: 9, per: 'week', timeZone: 'Asia/Beirut' }),
  ban(quota({ limit: 4, per: 'week' }), { after: 2, within: '1h', for: ['1h', '2h'] }),
  ban(quota({ limit: 3, per: 'day' }), { after: 1, within: '1h', for: ['1h'], onAttempt: 'restart' }),
  slidingLog({ limit: 4, window: '1h' }),
  slidingLog({ limit: 9, window: '2h' }),
  slidingLog({ limit: 2, window: '30d' }),
  slidingLog({ limit: 1, window: '9ms', onChange: 'reset' }),
  slidingLog({ limit: 6, window: '17ms', onChange: 'reset' }),
  slidingLog({ limit: 450, window: '1h' }),
  ban(slidingLog({ limit: 3, window: '1h' }), { after: 2, within: '1h', for: ['1h', '2h'] }),
  ban(slidingLog({ limit: 7, window: '1d' }), { after: 1, within: '2h', for: ['1h'], onAttempt: 'restart' }),
  ban(slidingLog({ limit: 440, window: '2h' }), { after: 2, within: '1h', for: ['1h', '3h'] }),
]

/** The policy by its place, so that a counterexample can be read. */
interface Taking {
  readonly owner: string
  readonly policy: number
  readonly share: number
}

type Step =
  | { readonly charges: readonly (readonly Taking[])[] }
  | { readonly refund: number; readonly cost: number; readonly lateMs: number | undefined }

const taking: fc.Arbitrary<Taking> = fc.record({
  owner: fc.constantFrom('a', 'b', 'c'),
  policy: fc.nat(POLICIES.length - 1),
  share: fc.nat(100),
})
/** Costs from a peek to 2 above the limit. */
function partOf({ owner, policy: at, share }: Taking): Part {
  const policy = POLICIES[at] as Policy
  return part(`${owner}:${keyCodeOf(policy.spec)}`, policy, share % (Math.min(policy.limit, 1e6) + 3))
}
/** A charge names each key under one policy. */
function partsOf(takings: readonly Taking[]): readonly Part[] {
  const parts = takings.map(partOf)
  return parts.filter(({ key, policy }) => parts.find((other) => other.key === key)?.policy === policy)
}
const single = taking.map((one) => [one])
const several = fc.array(taking, { minLength: 1, maxLength: 4 })
const oneKeyTwice = taking.map((one) => [one, { ...one, share: one.share >> 1 }])
const charge = fc.oneof(single, several, oneKeyTwice)
/** Charges by one policy, and among them runs of equal ones, which the store sends as one with a count. */
const runs = fc
  .tuple(
    fc.nat(POLICIES.length - 1),
    fc.array(fc.tuple(taking, fc.integer({ min: 1, max: 8 })), { minLength: 1, maxLength: 4 }),
  )
  .map(([policy, each]) => each.flatMap(([one, times]) => Array(times).fill([{ ...one, policy }])))
const trace = fc.array(
  fc.oneof<fc.WeightedArbitrary<Step>[]>(
    { weight: 4, arbitrary: fc.record({ charges: fc.array(charge, { minLength: 1, maxLength: 6 }) }) },
    { weight: 2, arbitrary: fc.record({ charges: runs }) },
    {
      weight: 2,
      arbitrary: fc.record({
        refund: fc.nat(),
        cost: fc.nat(5),
        lateMs: fc.option(fc.nat(3_600_000), { nil: undefined }),
      }),
    },
  ),
  { minLength: 1, maxLength: 25 },
)

const redis = useRedis()

test('on random traces, every figure and every stored state equals that of the TypeScript policies', async () => {
  await fc.assert(fc.asyncProperty(trace, compare), { numRuns: 250 })
}, 180_000)

async function compare(steps: readonly Step[]): Promise<void> {
  await redis.client.flushdb()
  const store = redisStore(redis.client)
  const model = new Map<string, State | undefined>()
  const policies = new Map<string, Policy>()
  const taken: TakenUnits[] = []
  const refunded = new Set<string>() // since they were charged last
  for (const step of steps) {
    if ('refund' in step) {
      const receipt = taken[step.refund % Math.max(1, taken.length)]
      if (receipt === undefined) continue
      const { key, policy, cost, takenAtMs, resetAtMs = takenAtMs } = receipt
      const refund = { key, policy, cost: Math.min(cost, step.cost), takenAtMs }
      const { lateMs } = step
      await giveBack(lateMs === undefined ? refund : { ...refund, resetAtMs: resetAtMs - lateMs })
      continue
    }
    const charges = step.charges.map(partsOf)
    const verdicts = await chargeStore(store, charges)
    expect(verdicts).toHaveLength(charges.length)
    for (const [i, { atMs, ...verdict }] of verdicts.entries()) {
      const wanted = charges[i] as readonly Part[]
      const { verdict: expected, writes } = evaluateCharge(wanted, (key) => model.get(key), atMs)
      const parts = expected.parts.map(figures)
      const { type, allowed } = expected
      expect({ ...verdict, parts: verdict.parts.map(figures) }).toEqual({ type, allowed, parts })
      for (const [key, { state, policy }] of writes) {
        model.set(key, state)
        policies.set(key, policy)
        refunded.delete(key)
      }
      if (!expected.allowed) continue
      wanted.forEach((one, j) => {
        taken.push({ ...one, takenAtMs: atMs, resetAtMs: atMs + (parts[j]?.resetAfterMs ?? 0) })
      })
    }
  }
  for (const [key, policy] of policies)
    await expectAtRest(redis.client, key, policy, model.get(key), refunded.has(key))

  /**
   * A refund does not return its time, on which a bucket's depends: the state must lie between those of
   * before and after.
   */
  async function giveBack(refund: TakenUnits): Promise<void> {
    const { key, policy, cost, takenAtMs, resetAtMs } = refund
    const state = model.get(key)
    const at = (nowMs: number) => state && policy.refund(state, nowMs, cost, takenAtMs, resetAtMs)
    const early = at(await serverTimeMs(redis.client))
    await refundStore(store, [refund])
    refunded.add(key)
    const held = await atRest(redis.client, key)
    const nowMs = await serverTimeMs(redis.client)
    const late = at(nowMs)
    if (baseOf(policy.spec).kind !== 'token-bucket' || held === undefined) {
      if (held === undefined) expect(policy.take(late, nowMs, 0).resetAfterMs).toBe(0)
      model.set(key, late)
      return
    }
    // The server may have dropped a full bucket before a ban counted a denial, and then holds zeros for it.
    const isFull = (bucket: State | undefined) => {
      const { resetAfterMs, unitsAfterMs = resetAfterMs } = policy.take(bucket, nowMs, 0)
      return unitsAfterMs === 0
    }
    const missing = (bucket: State | undefined) => (isFull(bucket) ? 0 : (bucket?.[0] ?? 0))
    expect(missing(held)).toBeGreaterThanOrEqual(missing(early))
    expect(missing(held)).toBeLessThanOrEqual(missing(late))
    model.set(key, held)
  }
}
