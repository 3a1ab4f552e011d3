import { ban, fixedWindow, type Policy } from 'headgate'
import { isPolicy, signatureOf } from '../../../src/policies/policy.js'
import { policyFromSpec } from '../../../src/policies/policy-from-spec.js'
import type { PolicySpec } from '../../../src/policies/spec.js'

const base = { kind: 'fixed-window', limit: 5, windowMs: 1000 } as const
const banned = {
  kind: 'ban',
  base,
  after: 2,
  withinMs: 60_000,
  bansMs: [1000],
  onAttempt: 'nothing',
} as const

test('a spec has all that makes its policy, and is frozen throughout', () => {
  const policy = ban(fixedWindow({ limit: 5, window: '1s' }), { after: 2, within: '1m', for: '1s' })
  expect(policy.spec).toEqual(banned)
  expect(policyFromSpec(banned).spec).toEqual(banned)
  const parts = [policy.spec, ...Object.values(policy.spec)]
  expect(parts.every((part) => Object.isFrozen(part))).toBe(true)
})

test.each<[string, unknown, string]>([
  ['no kind', {}, 'policyFromSpec: kind must be one of token-bucket, sliding-window,'],
  ['an unknown kind', { kind: 'leaky-bucket' }, 'got "leaky-bucket"'],
  ['a limit of 0', { ...base, limit: 0 }, 'fixedWindow: limit must be'],
  ['no window', { kind: 'first-request-window', limit: 5 }, 'fixedWindow: window must be'],
  ['no slices', { ...base, kind: 'sliding-window' }, 'slidingWindow: slices must be'],
  ['an interval off the grid', { kind: 'token-bucket', capacity: 5, intervalMs: 0.3 }, 'of 1/4096 ms'],
  ['a ttl that is a text', { kind: 'concurrency', limit: 5, ttlMs: '1m' }, 'concurrency: ttl must be'],
  ['a ban of a ban', { ...banned, base: banned }, 'ban: policy must be a policy that is not a ban'],
  [
    'a ban of concurrency',
    { ...banned, base: { kind: 'concurrency', limit: 5, ttlMs: 1000 } },
    'concurrency',
  ],
  ['no bans', { ...banned, bansMs: [] }, 'ban: for must be 1 to 16 durations'],
  ['an unknown onAttempt', { ...banned, onAttempt: 'end' }, 'ban: onAttempt must be'],
])('a spec with %s makes no policy', (_, spec, message) => {
  const make = () => policyFromSpec(spec as PolicySpec)
  expect(make).toThrow(TypeError)
  expect(make).toThrow(message)
})

/** A policy of a kind that headgate does not have, as plain JavaScript may make it. */
const ofSpec = (spec: unknown) => ({ ...fixedWindow({ limit: 5, window: '1s' }), spec }) as Policy

test('a policy may have a kind of its own, whose numbers tell it from others', () => {
  const leaky = ofSpec({ kind: 'leaky-bucket', size: 5, leakMs: 10 })
  expect(isPolicy(leaky)).toBe(true)
  expect(signatureOf(ofSpec({ kind: 'toString', size: 5 }))).toBe('toString-5')
  expect(signatureOf(leaky)).toBe('leaky-bucket-5-10')
  expect(signatureOf(ban(leaky, { after: 1, within: '100ms', for: '200ms' }))).toBe(
    'ban-leaky-bucket-5-10-1-100-nothing-200',
  )
})

test.each([
  [undefined],
  [null],
  ['fixed-window'],
  [{ limit: 5 }],
  [{ kind: 5 }],
  [{ kind: 'leaky-bucket', sizes: [5] }],
  [{ kind: 'fixed-window', limit: 5 }],
  [{ kind: 'toString', size: '5' }],
  [{ kind: 'ban', after: 1 }],
])('a policy is rejected whose spec is %p', (spec) => {
  expect(isPolicy(ofSpec(spec))).toBe(false)
})
