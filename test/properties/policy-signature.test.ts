import fc from 'fast-check'
import { concurrency, type Policy, tokenBucket } from 'headgate'
import { policyOf } from '../../src/policies/parse-signature.js'
import { signatureOf } from '../../src/policies/policy.js'
import { anyPolicy, costOf, moment, takes, waitMs } from './arbitrary-policies.js'

const held = fc
  .record({ limit: fc.integer({ min: 1, max: 1000 }), ttl: fc.integer({ min: 1000, max: 1e9 }) })
  .map((options) => concurrency(options))
const policies = fc.oneof(
  anyPolicy.map(({ policy }) => policy),
  held,
)

test('the policy of a signature has this signature, and decides alike', () => {
  fc.assert(
    fc.property(policies, moment, takes, (policy, startMs, trace) => {
      const parsed = policyOf(signatureOf(policy)) as Policy
      expect(signatureOf(parsed)).toBe(signatureOf(policy))
      expect(parsed).toMatchObject({ kind: policy.kind, limit: policy.limit, width: policy.width })
      let nowMs = startMs
      let state: readonly number[] | undefined
      for (const take of trace) {
        nowMs += waitMs(policy, take)
        const step = policy.take(state, nowMs, costOf(policy, take))
        expect(parsed.take(state, nowMs, costOf(policy, take))).toEqual(step)
        state = step.next ?? state
      }
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
      expect(policyOf(signatureOf(policy))).toMatchObject({ name: policy.name, windowMs: every })
    }),
  )
})

test('a text is the signature of a policy only in the one spelling of signatureOf', () => {
  const numbers = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 12 })
  const kinds = fc.constantFrom('token-bucket', 'fixed-window', 'ban-sliding-window', 'concurrency')
  fc.assert(
    fc.property(kinds, numbers, (kind, params) => {
      const text = [kind, ...params].join('-')
      const policy = policyOf(text)
      if (policy !== undefined) expect(signatureOf(policy)).toBe(text)
    }),
  )
})
