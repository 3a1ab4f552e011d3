import fc from 'fast-check'
import { concurrency, type Policy, tokenBucket } from 'headgate'
import { signatureOf } from '../../src/policies/policy.js'
import { policyFromSpec } from '../../src/policies/policy-from-spec.js'
import type { PolicySpec } from '../../src/policies/spec.js'
import { anyPolicy, costOf, moment, takes, waitMs } from './arbitrary-policies.js'

const held = fc
  .record({ limit: fc.integer({ min: 1, max: 1000 }), ttl: fc.integer({ min: 1000, max: 1e9 }) })
  .map((options) => concurrency(options))
const whole = fc.oneof(
  anyPolicy.map(({ policy }) => policy),
  held,
)
const scaled = fc.tuple(whole, fc.double({ min: 0.01, max: 1, noNaN: true }))
const policies = fc.oneof(
  whole,
  scaled.map(([policy, share]) => policy.scale(share)),
)

const MAKE_AGAIN: readonly (readonly [string, (policy: Policy) => Policy])[] = [
  ['a spec', ({ spec }) => policyFromSpec(spec)],
  ['a spec in JSON', ({ spec }) => policyFromSpec(JSON.parse(JSON.stringify(spec)))],
  ['a spec in another order', ({ spec }) => policyFromSpec(reversed(spec) as PolicySpec)],
]

/** Returns an object whose properties are in the reverse order, as a database may return them. */
function reversed(value: object): object {
  const isPlain = (each: unknown) => typeof each === 'object' && !Array.isArray(each)
  const entries = Object.entries(value).map(([name, each]) => [name, isPlain(each) ? reversed(each) : each])
  return Object.fromEntries(entries.reverse())
}

test.each(MAKE_AGAIN)('the policy of %s has this spec and signature, and decides alike', (_, makeAgain) => {
  fc.assert(
    fc.property(policies, moment, takes, (policy, startMs, trace) => {
      const parsed = makeAgain(policy)
      expect(parsed.spec).toEqual(policy.spec)
      expect(signatureOf(parsed)).toBe(signatureOf(policy))
      const dataOf = ({ limit, width, isBan, longestBanMs, holdsUnits, ttlMs }: Policy) => [
        limit,
        width,
        isBan,
        longestBanMs,
        holdsUnits,
        ttlMs,
      ]
      expect(dataOf(parsed)).toEqual(dataOf(policy))
      let nowMs = startMs
      let state: readonly number[] | undefined
      const steps = trace.map((take) => {
        nowMs += waitMs(policy, take)
        const step = policy.take(state, nowMs, costOf(policy, take))
        const ofParsed = parsed.take(state, nowMs, costOf(policy, take))
        state = step.next ?? state
        return { step, ofParsed }
      })
      expect(steps.map(({ ofParsed }) => ofParsed)).toEqual(steps.map(({ step }) => step))
    }),
  )
})

test('the window of a bucket is the one that rateLimit made it of', () => {
  const limits = fc.record({
    limit: fc.integer({ min: 1, max: 10_000 }),
    every: fc.constantFrom(1000, 10_000, 60_000, 900_000, 3_600_000, 86_400_000),
  })
  fc.assert(
    fc.property(limits, ({ limit, every }) => {
      const policy = tokenBucket({ capacity: limit, refill: limit, every })
      expect(policyFromSpec(policy.spec)).toMatchObject({ name: policy.name, windowMs: every })
    }),
  )
})
