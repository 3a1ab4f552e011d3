import fc from 'fast-check'
import { ban, createLimiter, fixedWindow, memoryStore, type Policy, tokenBucket } from 'headgate'
import { GRID_PER_MS, isOnGrid } from '../../src/policies/bucket-grid.js'
import { baseOf } from '../../src/policies/spec.js'
import { anyPolicy, shareUpTo } from './arbitrary-policies.js'

const START_MS = Date.UTC(2026, 0, 5, 12)
const LATER = [0, 0.1, 0.5, 0.9, 1.5]

/** A limiter of one client in memory, with a manual clock. */
function limiterOf(policy: Policy) {
  let nowMs = START_MS
  const store = memoryStore({ clock: () => nowMs })
  const limiter = createLimiter({ policy, store, key: () => 'ada' })
  return {
    limiter,
    advance(ms: number) {
      nowMs += ms
    },
    async figures() {
      const { remaining, moreAfterMs, resetAfterMs } = await limiter.peek({})
      return { remaining, moreAfterMs, resetAfterMs }
    },
  }
}

/** What is charged before and after a decision, and when, as shares of the limit and of the window. */
const shares = fc.record({
  before: shareUpTo(0.6),
  cost: shareUpTo(0.8),
  waitBetween: shareUpTo(0.3),
  waitAfter: fc.oneof(shareUpTo(0.9), shareUpTo(2)),
  after: fc.array(shareUpTo(0.9), { maxLength: 3 }),
  hasDenial: fc.boolean(),
})

type Trace = typeof shares extends fc.Arbitrary<infer T> ? T : never

/** Adjusts a decision to each of the costs in turn, and returns the figures at several moments after that. */
async function adjusted(policy: Policy, trace: Trace, costs: readonly number[]) {
  const { limiter, advance, figures } = limiterOf(policy)
  const lengthMs = Number.isFinite(policy.windowMs) ? policy.windowMs : 1000
  const charge = (share: number) => limiter.charge({}, { cost: Math.round(share * policy.limit) })
  await charge(trace.before)
  if (trace.hasDenial) await charge(2) // a ban counts it
  advance(trace.waitBetween * lengthMs)
  const decision = await charge(trace.cost)
  advance(trace.waitAfter * lengthMs)
  for (const share of trace.after) await charge(share)
  for (const cost of costs) await limiter.adjust(decision, cost)
  let atMs = 0
  const seen: Awaited<ReturnType<typeof figures>>[] = []
  for (const share of LATER) {
    advance(share * lengthMs - atMs)
    atMs = share * lengthMs
    seen.push(await figures())
  }
  return seen
}

/** Whether a bucket's times are finer than the doubles near the present time. */
function isRounded({ spec }: Policy): boolean {
  const base = baseOf(spec)
  return base.kind === 'token-bucket' && !isOnGrid(base.intervalMs)
}

test('an adjustment in steps, up and down, ends where one step to the lowest cost does', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyPolicy,
      shares,
      fc.array(shareUpTo(1.2), { minLength: 1, maxLength: 8 }),
      shareUpTo(1),
      async ({ policy }, trace, costShares, lowestShare) => {
        const lowest = Math.floor(lowestShare * Math.round(trace.cost * policy.limit))
        const steps = costShares.map((share) => Math.max(lowest, Math.round(share * policy.limit)))
        const inSteps = await adjusted(policy, trace, [...steps, lowest])
        const atOnce = await adjusted(policy, trace, [lowest])
        if (!isRounded(policy)) expect(inSteps).toEqual(atOnce)
        for (const [i, { remaining, resetAfterMs }] of inSteps.entries()) {
          expect(Math.abs(remaining - (atOnce[i]?.remaining ?? 0))).toBeLessThanOrEqual(1)
          if (Number.isFinite(resetAfterMs))
            expect(Math.abs(resetAfterMs - (atOnce[i]?.resetAfterMs ?? 0))).toBeLessThanOrEqual(
              2 / GRID_PER_MS,
            )
        }
      },
    ),
    { numRuns: 400 },
  )
})

test.each([
  ['a bucket', (bucket: Policy) => bucket],
  ['a bucket in a ban', (bucket: Policy) => ban(bucket, { after: 5, within: '1h', for: '1h' })],
])('of 8 units of %s, 2 that are not refilled come back in eight steps', async (_, policyOf) => {
  const bucket = policyOf(tokenBucket({ capacity: 10, refill: 1, every: '1s' }))
  const { limiter, advance, figures } = limiterOf(bucket)
  await limiter.charge({}, { cost: 11 }) // denied, and counted by a ban
  const first = await limiter.charge({}, { cost: 8 })
  advance(6000)
  await limiter.charge({}, { cost: 8 })
  expect((await figures()).remaining).toBe(0)
  for (let cost = 7; cost >= 0; cost--) await limiter.adjust(first, cost)
  expect((await figures()).remaining).toBe(2)
})

test.each<[string, (window: string) => Policy]>([
  ['fixedWindow', (window) => fixedWindow({ limit: 10, window })],
  [
    'fixedWindow from the first request',
    (window) => fixedWindow({ limit: 10, window, startsAt: 'first-request' }),
  ],
  ['a ban', (window) => ban(fixedWindow({ limit: 10, window }), { after: 5, within: '1h', for: '1h' })],
])(
  '%s: a refund after its window does not reach units that moved into a longer one',
  async (_, policyFor) => {
    let nowMs = START_MS
    let policy = policyFor('1m')
    const store = memoryStore({ clock: () => nowMs })
    const limiter = createLimiter({ policy: () => policy, store, key: () => 'ada' })
    const early = await limiter.charge({}, { cost: 5 })
    nowMs += 125_000
    await limiter.charge({}, { cost: 3 })
    policy = policyFor('1h')
    await limiter.charge({})
    await limiter.refund(early)
    expect(await limiter.peek({})).toMatchObject({ remaining: 6 })
  },
)
