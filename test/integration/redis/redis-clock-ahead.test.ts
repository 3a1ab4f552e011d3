import * as fc from 'fast-check'
import { ban, fixedWindow, type Policy, quota, slidingWindow, tokenBucket } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { State } from 'headgate/store'
import { signatureOf } from '../../../src/policies/policy.js'
import { evaluateCharge } from '../../../src/stores/shared/apply-batch.js'
import { chargeOne, figures, part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, refundStore } from '../../support/store-calls.js'
import { serverTimeMs } from './connect.js'
import { atRest, bytesOf, expectAtRest, putAtRest } from './rest.js'
import { useRedis } from './use-redis.js'

const HOUR_MS = 3_600_000
const POLICIES: readonly Policy[] = [
  tokenBucket({ capacity: 5, refill: 7, every: '1h' }),
  slidingWindow({ limit: 6, window: HOUR_MS + 7, slices: 3 }),
  slidingWindow({ limit: 4, window: '1d' }),
  fixedWindow({ limit: 3, window: '1h' }),
  fixedWindow({ limit: 3, window: '1h', startsAt: 'first-request' }),
  quota({ limit: 3, per: 'day', timeZone: 'America/Havana' }),
  quota({ limit: 5, per: 'month', startsOn: 31 }),
  ban(slidingWindow({ limit: 4, window: '1h' }), { after: 2, within: '1h', for: ['1h', '2h'] }),
  ban(quota({ limit: 4, per: 'day' }), { after: 2, within: '1h', for: ['1h', '2h'] }),
]

const redis = useRedis()

beforeEach(() => redis.client.flushdb())

/** The state that several takings leave with a clock that is ahead. */
function takenAt(policy: Policy, nowMs: number, costs: readonly number[]): State | undefined {
  let state: State | undefined
  for (const cost of costs) state = policy.take(state, nowMs, cost).next ?? state
  return state
}

const CENTURY_MS = 100 * 365 * 24 * HOUR_MS

test.each(POLICIES.map((policy) => [signatureOf(policy), policy] as const))(
  'a full %s from a clock a century ahead is clamped by a denial, as in TypeScript',
  async (_, policy) => {
    const ahead = takenAt(policy, (await serverTimeMs(redis.client)) + CENTURY_MS, [policy.limit]) as State
    await putAtRest(redis.client, 'key', ahead)
    const { allowed, atMs } = await chargeOne(redisStore(redis.client), part('key', policy))
    expect(allowed).toBe(false)
    const { next } = policy.take(ahead, atMs, 1)
    expect(next).toBeDefined()
    expect(await atRest(redis.client, 'key')).toEqual(next)
    await expectAtRest(redis.client, 'key', policy, next)
    expect(await redis.client.pttl('key')).toBeLessThanOrEqual(policy.windowMs * 2 + policy.windowMs / 3 + 2)
  },
)

test('a window from the first request ends at its moment, to less than a millisecond', async () => {
  const policy = fixedWindow({ limit: 1, window: '1s', startsAt: 'first-request' })
  const decided = { allowed: 0, denied: 0 }
  for (let i = 0; i < 80; i++) {
    const state = [1, (await serverTimeMs(redis.client)) - 1000 + i / 40] // ends in up to 2 ms
    await redis.client.set('border', bytesOf(Number.POSITIVE_INFINITY, state))
    const { allowed, atMs } = await chargeOne(redisStore(redis.client), part('border', policy))
    const { next = state } = policy.take(state, atMs, 1)
    expect({ state, atMs, held: await atRest(redis.client, 'border') }).toEqual({ state, atMs, held: next })
    decided[allowed ? 'allowed' : 'denied']++
  }
  expect(Math.min(decided.allowed, decided.denied)).toBeGreaterThan(5)
})

test('charges of states from a clock ahead are decided as in TypeScript', async () => {
  const store = redisStore(redis.client)
  const taking = fc.record({
    policy: fc.nat(POLICIES.length - 1),
    cost: fc.nat(8),
    aheadMs: fc.oneof(fc.nat(4 * HOUR_MS), fc.nat(CENTURY_MS)),
    before: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }),
  })
  const charges = fc.array(fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 4,
  })
  const run = async (
    takings: { policy: number; cost: number; aheadMs: number; before: number[] }[],
    order: number[][],
  ) => {
    await redis.client.flushdb()
    const nowMs = await serverTimeMs(redis.client)
    const model = new Map<string, State>()
    const parts = takings.map(({ policy, cost, aheadMs, before }, i) => {
      const one = part(`key-${i}`, POLICIES[policy] as Policy, cost)
      const state = takenAt(one.policy, nowMs + aheadMs, before)
      if (state !== undefined) model.set(one.key, state)
      return one
    })
    for (const { key } of parts) {
      const state = model.get(key)
      if (state !== undefined) await putAtRest(redis.client, key, state)
    }
    const wanted = order.map((places) => places.map((at) => parts[at % parts.length] as (typeof parts)[0]))
    const written = new Set<string>()
    for (const [i, { allowed, atMs, parts: got }] of (await chargeStore(store, wanted)).entries()) {
      const { verdict, writes } = evaluateCharge(wanted[i] ?? [], (key) => model.get(key), atMs)
      expect({ allowed, parts: got.map(figures) }).toEqual({
        allowed: verdict.allowed,
        parts: verdict.parts.map(figures),
      })
      for (const [key, { state }] of writes) {
        model.set(key, state)
        written.add(key)
      }
    }
    for (const { key, policy } of parts) {
      const held = await atRest(redis.client, key)
      expect(held).toEqual(model.get(key))
      // A ban's record from a clock ahead is only clamped by a denial, and is kept for longer until then.
      if (written.has(key) && !policy.isBan) await expectAtRest(redis.client, key, policy, model.get(key))
    }
  }
  await fc.assert(fc.asyncProperty(fc.array(taking, { minLength: 1, maxLength: 3 }), charges, run), {
    numRuns: 200,
    interruptAfterTimeLimit: 10_000,
  })
})

/** What a bucket misses depends on the time of the refund, and lies between that just before and just after. */
function expectBetween(held: State, early: State | undefined, late: State | undefined): void {
  const bounds = [early?.[0] ?? 0, late?.[0] ?? 0]
  expect(held[0]).toBeGreaterThanOrEqual(Math.min(...bounds))
  expect(held[0]).toBeLessThanOrEqual(Math.max(...bounds))
  expect(held[1]).toBeGreaterThanOrEqual(early?.[1] ?? 0)
  expect(held[1]).toBeLessThanOrEqual(late?.[1] ?? Number.POSITIVE_INFINITY)
}

/** Returns whether the period of a quota's state is none of those that a script gets. It then refunds nothing. */
function isBeyondPeriods({ periodAt }: Policy, [, atMs = 0]: State, nowMs: number): boolean {
  let endsAtMs = nowMs
  for (let i = 0; i < 3; i++) endsAtMs = periodAt?.(endsAtMs).endsAtMs ?? Number.POSITIVE_INFINITY
  return atMs >= endsAtMs
}

const someHours = fc.constantFrom(0, HOUR_MS, 24 * HOUR_MS)

test('refunds to states from a clock ahead come out as in TypeScript', async () => {
  const store = redisStore(redis.client)
  let changed = 0
  const refunding = fc.record({
    policy: fc.constantFrom(...POLICIES),
    before: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 2 }),
    aheadMs: fc.oneof(fc.nat(4 * HOUR_MS), fc.nat(CENTURY_MS)),
    isClamped: fc.boolean(),
    cost: fc.nat(7),
    isTakenAhead: fc.boolean(),
    takenEarlierMs: someHours,
    resetAfterMs: fc.option(someHours, { nil: undefined }),
  })
  await fc.assert(
    fc.asyncProperty(refunding, async ({ policy, before, aheadMs, cost, ...taken }) => {
      await redis.client.flushdb()
      const startMs = await serverTimeMs(redis.client)
      let state = takenAt(policy, startMs + aheadMs, before) as State
      if (taken.isClamped) state = policy.take(state, startMs, policy.limit).next ?? state
      await putAtRest(redis.client, 'key', state)
      const takenAtMs = startMs + (taken.isTakenAhead ? aheadMs : 0) - taken.takenEarlierMs
      const resetAtMs = takenAtMs + (taken.resetAfterMs ?? Number.NaN)
      const receipt = { ...part('key', policy, cost), takenAtMs, ...(resetAtMs > 0 && { resetAtMs }) }
      const refunded = async () =>
        policy.refund(state, await serverTimeMs(redis.client), cost, takenAtMs, receipt.resetAtMs)
      const early = await refunded()
      await refundStore(store, [receipt])
      const late = await refunded()
      const held = await atRest(redis.client, 'key')
      if (String(early) !== String(state)) changed++
      if (policy.spec.kind === 'token-bucket' && held !== undefined) expectBetween(held, early, late)
      else
        expect([early, late, ...(isBeyondPeriods(policy, state, startMs) ? [state] : [])]).toContainEqual(
          held,
        )
    }),
    { numRuns: 300, interruptAfterTimeLimit: 10_000 },
  )
  expect(changed).toBeGreaterThan(30)
})
