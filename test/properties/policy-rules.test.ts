import fc from 'fast-check'
import { type Policy, tokenBucket } from 'headgate'
import type { State } from 'headgate/store'
import {
  anyPolicy,
  costOf,
  fromFirstRequest,
  intervalMsOf,
  isFromFirstRequest,
  moment,
  stateAfter,
  type Take,
  takes,
  timedPolicy,
  waitMs,
} from './arbitrary-policies.js'

interface Visit {
  readonly nowMs: number
  readonly cost: number
  readonly state: State | undefined
}

/** Runs a trace on a clock that only goes forward; `visit` sees each take before it is made. */
function forward(
  policy: Policy,
  startMs: number,
  trace: readonly Take[],
  visit: (visit: Visit) => void,
): void {
  let state: State | undefined
  let nowMs = startMs
  for (const take of trace) {
    nowMs += waitMs(policy, take)
    const cost = costOf(policy, take)
    visit({ nowMs, cost, state })
    state = stateAfter(state, policy.take(state, nowMs, cost).next)
  }
}

test('rule 1: a denial and a peek change nothing, and the input state is never touched', () => {
  fc.assert(
    fc.property(anyPolicy, moment, takes, ({ policy }, startMs, trace) => {
      forward(policy, startMs, trace, ({ nowMs, cost, state }) => {
        const before = state === undefined ? undefined : [...state]
        const step = policy.take(state, nowMs, cost)
        expect(policy.take(state, nowMs, 0)).toMatchObject({
          allowed: true,
          retryAfterMs: 0,
          next: undefined,
        })
        if (policy.isBan && !step.allowed && step.next !== undefined) {
          const own = step.next.length - 4 // the rest is what a ban counts
          expect(step.next.slice(0, own)).toEqual((state ?? new Array(own).fill(0)).slice(0, own))
        } else expect(step.next === undefined).toBe(!step.allowed || cost === 0)
        if (step.next !== undefined && policy.width !== undefined)
          expect(step.next).toHaveLength(policy.width)
        expect(state).toEqual(before)
      })
    }),
  )
})

test('rule 2: over any span of time, no more is admitted than the documentation promises', () => {
  fc.assert(
    fc.property(anyPolicy, moment, takes, ({ policy, most }, startMs, trace) => {
      const admitted: { nowMs: number; cost: number }[] = []
      forward(policy, startMs, trace, ({ nowMs, cost, state }) => {
        if (policy.take(state, nowMs, cost).allowed) admitted.push({ nowMs, cost })
      })
      const excesses = admitted.flatMap((from, i) => {
        let sum = 0
        return admitted.slice(i).flatMap((to) => {
          sum += to.cost
          return sum <= most(to.nowMs - from.nowMs) ? [] : [{ from, to, sum }]
        })
      })
      expect(excesses).toEqual([])
    }),
  )
})

test('rule 2: within one aligned window, a window of counters admits its limit and no more', () => {
  fc.assert(
    fc.property(timedPolicy, moment, takes, ({ policy }, startMs, trace) => {
      fc.pre(policy.spec.kind !== 'token-bucket' && !isFromFirstRequest(policy))
      const admitted = new Map<number, number>()
      forward(policy, startMs, trace, ({ nowMs, cost, state }) => {
        const window = Math.floor(nowMs / policy.windowMs)
        const sum = (admitted.get(window) ?? 0) + (policy.take(state, nowMs, cost).allowed ? cost : 0)
        admitted.set(window, sum)
        expect(sum).toBeLessThanOrEqual(policy.limit)
        if (policy.spec.kind === 'fixed-window' && cost <= policy.limit - sum)
          expect(policy.take(state, nowMs, cost).allowed).toBe(true)
      })
    }),
  )
})

test('rule 2: a window from the first request begins with the first charge, and admits exactly its limit', () => {
  fc.assert(
    fc.property(fromFirstRequest, moment, takes, ({ policy }, startMs, trace) => {
      let [endMs, sum] = [Number.NEGATIVE_INFINITY, 0]
      forward(policy, startMs, trace, ({ nowMs, cost, state }) => {
        if (nowMs >= endMs) sum = 0
        const { allowed } = policy.take(state, nowMs, cost)
        expect(allowed).toBe(sum + cost <= policy.limit || cost === 0)
        if (sum === 0 && allowed) endMs = nowMs + policy.windowMs
        if (allowed) sum += cost
      })
    }),
  )
})

test('rule 3: retry, more and reset times are exact: not 1 ms earlier, and at the time itself', () => {
  fc.assert(
    fc.property(anyPolicy, moment, takes, ({ policy }, startMs, trace) => {
      forward(policy, startMs, trace, ({ nowMs, cost, state }) => {
        const step = policy.take(state, nowMs, cost)
        const after = stateAfter(state, step.next)
        const remainingAt = (atMs: number) => policy.take(after, atMs, 0).remaining
        if (!step.allowed && Number.isFinite(step.retryAfterMs)) {
          expect(policy.take(after, nowMs + step.retryAfterMs, cost).allowed).toBe(true)
          expect(policy.take(after, nowMs + step.retryAfterMs - 1, cost).allowed).toBe(false)
        }
        if (step.moreAfterMs > 0 && Number.isFinite(step.moreAfterMs)) {
          expect(remainingAt(nowMs + step.moreAfterMs)).toBeGreaterThan(step.remaining)
          if (step.moreAfterMs >= 1) expect(remainingAt(nowMs + step.moreAfterMs - 1)).toBe(step.remaining)
        }
        if (step.resetAfterMs > 0 && Number.isFinite(step.resetAfterMs)) {
          expect(remainingAt(nowMs + step.resetAfterMs)).toBe(policy.limit)
          expect(policy.take(after, nowMs + step.resetAfterMs, 0).resetAfterMs).toBe(0)
          if (step.resetAfterMs >= 1 && !policy.isBan)
            // which remembers for longer
            expect(remainingAt(nowMs + step.resetAfterMs - 1)).toBeLessThan(policy.limit)
        }
      })
    }),
  )
})

test('rule 3: the figures of a step that is allowed are those of a peek at what it leaves', () => {
  fc.assert(
    fc.property(anyPolicy, moment, takes, ({ policy }, startMs, trace) => {
      forward(policy, startMs, trace, ({ nowMs, cost, state }) => {
        const { next, unitsAfterMs, ...step } = policy.take(state, nowMs, cost)
        if (step.allowed && next !== undefined) expect(policy.take(next, nowMs, 0)).toMatchObject(step)
      })
    }),
  )
})

test('rule 4: a cost above the limit is denied for ever, whatever the state', () => {
  fc.assert(
    fc.property(
      anyPolicy,
      moment,
      takes,
      fc.integer({ min: 1, max: 1e6 }),
      ({ policy }, startMs, trace, above) => {
        forward(policy, startMs, trace, ({ nowMs, state }) => {
          const step = policy.take(state, nowMs, policy.limit + above)
          expect(step).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
        })
      },
    ),
  )
})

test('rule 6: dropping a state that equals a fresh one changes no decision', () => {
  fc.assert(
    fc.property(anyPolicy, moment, takes, ({ policy }, startMs, trace) => {
      let dropping: State | undefined
      forward(policy, startMs, trace, ({ nowMs, cost, state }) => {
        if (policy.take(dropping, nowMs, 0).resetAfterMs === 0) dropping = undefined
        const { next: keeping, ...step } = policy.take(state, nowMs, cost)
        const { next, ...droppingStep } = policy.take(dropping, nowMs, cost)
        expect(droppingStep).toEqual({ ...step, resetAfterMs: expect.any(Number) })
        expect(next === undefined).toBe(keeping === undefined)
        dropping = stateAfter(dropping, next)
      })
    }),
  )
})

/** A trace may go beyond 2039, where doubles of epoch milliseconds are so far apart. */
const SPACING_MS = 1 / 2048

/**
 * Takes one unit at each first moment that allows it. Returns the units per window, after a start of two
 * windows.
 */
function greedyRate(policy: Policy, startMs: number, windows: number): number {
  let state: State | undefined
  let nowMs = startMs
  let steadyFromMs = Number.NaN
  for (let taken = 0; taken < policy.limit * (windows + 2); ) {
    const step = policy.take(state, nowMs, 1)
    state = stateAfter(state, step.next)
    if (step.allowed) taken++
    else if (step.retryAfterMs > 0) nowMs += Math.max(step.retryAfterMs, SPACING_MS)
    else throw new Error('denied without a time to wait')
    if (step.allowed && taken === policy.limit * 2) steadyFromMs = nowMs
  }
  return (policy.limit * windows * policy.windowMs) / (nowMs - steadyFromMs)
}

test('rule 7: a client that always takes as soon as it may gets the rate within 0.2 %', () => {
  fc.assert(
    fc.property(timedPolicy, moment, ({ policy }, startMs) => {
      const share = greedyRate(policy, startMs, 1200) / policy.limit
      const lost = policy.spec.kind === 'sliding-window' ? 1 / policy.windowMs : 0 // it reads whole milliseconds
      expect(share).toBeGreaterThan(0.998 - lost)
      expect(share).toBeLessThan(1.002)
    }),
    { numRuns: 15 },
  )
})

/** How far a bucket's rate is from the given one. */
function rateError(refill: number, everyMs: number, policy: Policy): number {
  return Math.abs((intervalMsOf(policy) * refill) / everyMs - 1)
}

test.each([
  ['one a day', 1, 86_400_000],
  ['7 a minute', 7, 60_000],
  ['9,990 a second', 9990, 1000],
  ['10,000 a second', 10_000, 1000],
  ['16,384 a second', 16_384, 1000],
  ['60,000 a second', 60_000, 1000],
  ['4,096,000 a second, whose intervals are on the grid', 4_096_000, 1000],
  ['999,999,999 a second', 999_999_999, 1000],
  ['a billion a second', 1e9, 1000],
])('rule 7: the interval of a bucket of %s is within 0.01 %%', (_rate, refill, everyMs) => {
  const policy = tokenBucket({ capacity: 1, refill, every: `${everyMs}ms` })
  expect(rateError(refill, everyMs, policy)).toBeLessThanOrEqual(0.0001)
})

/** Rates from less than one a second to above a billion a second. */
const refills = fc.oneof(
  fc.integer({ min: 1, max: 20_000 }),
  fc.integer({ min: 1, max: 5_000_000 }),
  fc.integer({ min: 1, max: 2 ** 37 }),
)
const shares = fc.double({ min: 1 / 64, max: 1, noNaN: true })

test('rule 7: a bucket keeps its rate within 0.01 % up to a billion a second, and is rejected above', () => {
  fc.assert(
    fc.property(refills, fc.integer({ min: 1, max: 2000 }), (refill, everyMs) => {
      const make = () => tokenBucket({ capacity: 1, refill, every: `${everyMs}ms` })
      if (refill / everyMs <= 1e6)
        expect(rateError(refill, everyMs, make())).toBeLessThanOrEqual(0.0001 + 1e-9)
      else expect(make).toThrow(/^tokenBucket: refill must be at most 10\^9 per second/)
    }),
    { numRuns: 200 },
  )
})

test('a share of a bucket is never faster than its share, and slower by 0.01 % at most', () => {
  fc.assert(
    fc.property(refills, shares, (refill, share) => {
      const everyMs = Math.ceil(refill / 1e6)
      const scaled = tokenBucket({ capacity: refill, refill, every: `${everyMs}ms` }).scale(share)
      const relativeInterval = (intervalMsOf(scaled) * refill * share) / everyMs
      expect(relativeInterval).toBeGreaterThanOrEqual(1 - 1e-9)
      expect(relativeInterval).toBeLessThanOrEqual(1.0001 + 1e-9)
    }),
    { numRuns: 200 },
  )
  const fast = tokenBucket({ capacity: 1, refill: 1_024_000, every: '1s' }) // an interval of 4/4096 ms
  expect(intervalMsOf(fast.scale(0.9))).toBe(18_205 / 2 ** 24) // 0.9 of the rate is an interval of 18,204.4 / 2^24
  expect(intervalMsOf(fast.scale(0.5))).toBe(8 / 4096)
})
