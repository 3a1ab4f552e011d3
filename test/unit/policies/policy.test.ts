import { ban, concurrency, consecutive, fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'
import { isPolicy, isSamePolicy, signatureOf } from '../../../src/policies/policy.js'

const bucket = tokenBucket({ capacity: 5, refill: 10, every: '1m' })

/** Returns each kind of policy, with its name, spec, width and signature. */
const kinds = (): readonly (readonly [Policy, Partial<Policy>, string])[] => [
  [
    bucket,
    { name: '10-in-1min-burst-5', spec: { kind: 'token-bucket', capacity: 5, intervalMs: 6000 }, width: 2 },
    'token-bucket-5-6000',
  ],
  [
    fixedWindow({ limit: 5, window: '1m' }),
    { name: '5-in-1min', spec: { kind: 'fixed-window', limit: 5, windowMs: 60_000 }, width: 2 },
    'fixed-window-5-60000',
  ],
  [
    fixedWindow({ limit: 5, window: '1m', startsAt: 'first-request' }),
    { name: '5-in-1min', spec: { kind: 'first-request-window', limit: 5, windowMs: 60_000 }, width: 2 },
    'first-request-window-5-60000',
  ],
  [
    slidingWindow({ limit: 5, window: '1m', slices: 6 }),
    { name: '5-in-1min', spec: { kind: 'sliding-window', limit: 5, windowMs: 60_000, slices: 6 }, width: 8 },
    'sliding-window-5-60000-6',
  ],
  [
    concurrency({ limit: 5, ttl: '1m' }),
    { name: '5-at-once', spec: { kind: 'concurrency', limit: 5, ttlMs: 60_000 }, width: 10 },
    'concurrency-5-60000',
  ],
  [
    consecutive({ limit: 5 }),
    { name: '5-in-a-row', spec: { kind: 'consecutive', limit: 5 }, width: 1 },
    'consecutive-5',
  ],
  [
    ban(consecutive({ limit: 5 }), { after: 2, within: '1m', for: ['1m', '2m'], onAttempt: 'restart' }),
    {
      name: '5-in-a-row',
      spec: {
        kind: 'ban',
        base: { kind: 'consecutive', limit: 5 },
        after: 2,
        withinMs: 60_000,
        bansMs: [60_000, 120_000],
        onAttempt: 'restart',
      },
      width: 5,
    },
    'ban-consecutive-5-2-60000-restart-60000-120000',
  ],
]

test('a policy is data that its signature identifies', () => {
  for (const [policy, data, signature] of kinds()) {
    expect(policy).toMatchObject(data)
    expect(signatureOf(policy)).toBe(signature)
  }
})

test('policies are the same if their specs are equal', () => {
  const again = tokenBucket({ capacity: 5, refill: 10, every: '1m', name: 'other' })
  expect(isSamePolicy(bucket, again)).toBe(true)
  for (const [policy] of kinds().slice(1)) expect(isSamePolicy(bucket, policy)).toBe(false)
  expect(isSamePolicy(bucket, tokenBucket({ capacity: 51, refill: 10, every: '1m' }))).toBe(false)
})

test('a policy has all methods and a spec, and its width is a whole number', () => {
  for (const [policy] of kinds()) {
    expect(isPolicy(policy)).toBe(true)
    expect(isPolicy({ ...policy, width: '2' })).toBe(false)
    for (const missing of ['take', 'refund', 'clampToNow', 'scale', 'spec']) {
      expect(isPolicy({ ...policy, [missing]: undefined })).toBe(false)
    }
  }
  for (const value of [undefined, null, 5, 'policy', {}, () => bucket]) expect(isPolicy(value)).toBe(false)
})

const held = concurrency({ limit: 5 })
const banned = ban(bucket, { after: 1, within: '1m', for: ['1m', '2m'] })

test('a policy that holds units or bans states so, with all that this needs', () => {
  expect(held).toMatchObject({ holdsUnits: true, ttlMs: 60_000 })
  expect(banned).toMatchObject({ isBan: true, longestBanMs: 120_000 })
  for (const policy of [held, banned]) expect(isPolicy(policy)).toBe(true)
  for (const missing of ['renew', 'ttlMs']) expect(isPolicy({ ...held, [missing]: undefined })).toBe(false)
  for (const missing of ['block', 'bannedForMs', 'longestBanMs'])
    expect(isPolicy({ ...banned, [missing]: undefined })).toBe(false)
})

test('a policy that says neither does neither', () => {
  expect(bucket).not.toHaveProperty('holdsUnits')
  expect(bucket).not.toHaveProperty('isBan')
  expect(isPolicy({ ...bucket, holdsUnits: false, isBan: false })).toBe(true)
})

test('a scaled policy has a share of the limit, at least 1, in the same window', () => {
  for (const [policy] of kinds()) {
    const { name, spec } = policy
    const windowMs = policy === bucket ? 24_000 : policy.windowMs // the time in which 2 of 5 tokens are refilled
    expect(policy.scale(0.5)).toMatchObject({ limit: 2, windowMs, name, spec: { kind: spec.kind } })
    expect(policy.scale(0.1).limit).toBe(1)
  }
})

test('a policy holds at most sixteen nested bans', () => {
  const bans = (count: number) => ban(bucket, { after: 1, within: '1m', for: Array(count).fill('1m') })
  expect(bans(16).spec).toMatchObject({ bansMs: Array(16).fill(60_000) })
  expect(() => bans(17)).toThrow('for must be 1 to 16 durations, none shorter than the one before')
})

test('denials and bans by a clock that was ahead begin now, and the last ban is over', () => {
  const policy = ban(consecutive({ limit: 1 }), { after: 2, within: 1000, for: [1000, 5000] })
  expect(policy.clampToNow([1, 1, 9000, 0, 0], 100)).toEqual([1, 1, 100, 0, 0])
  expect(policy.clampToNow([1, 1, 9000, 1, 50], 100)).toEqual([1, 1, 100, 1, 50])
  expect(policy.clampToNow([1, 1, 9000, 1, 8000], 100)).toEqual([1, 1, 100, 1, 100])
  expect(policy.clampToNow([1, 0, 9000, 2, 14_000], 100)).toEqual([1, 0, 100, 2, 5100])
  const state = [1, 0, 100, 2, 900_000]
  expect(policy.clampToNow(state, 100)).toBe(state)
})
