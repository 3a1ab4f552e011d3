import fc from 'fast-check'
import type { Policy } from 'headgate'
import type { State } from 'headgate/store'
import {
  anyPolicy,
  costOf,
  fromFirstRequest,
  isFromFirstRequest,
  moment,
  stateAfter,
  takes,
  waitMs,
} from './arbitrary-policies.js'

function remaining(policy: Policy, state: State | undefined, nowMs: number): number {
  return policy.take(state, nowMs, 0).remaining
}

test('a refund never restores more than was taken: a key is never better off than without the charge, nor worse than before', () => {
  fc.assert(
    fc.property(anyPolicy, moment, takes, fc.nat({ max: 59 }), ({ policy }, startMs, trace, which) => {
      fc.pre(!isFromFirstRequest(policy)) // whose windows begin with the charge, and keep their beginning
      let withCharge: State | undefined
      let without: State | undefined
      let nowMs = startMs
      let charged: { cost: number; atMs: number } | undefined
      trace.forEach((take, i) => {
        nowMs += waitMs(policy, take)
        const cost = costOf(policy, take)
        const step = policy.take(withCharge, nowMs, cost)
        withCharge = stateAfter(withCharge, step.next)
        if (i === which % trace.length) charged = step.allowed ? { cost, atMs: nowMs } : undefined
        else if (step.allowed) without = stateAfter(without, policy.take(without, nowMs, cost).next)
      })
      if (charged === undefined || withCharge === undefined) return
      const refunded = policy.refund(withCharge, nowMs, charged.cost, charged.atMs)
      const lengthMs = Number.isFinite(policy.windowMs) ? policy.windowMs : 1000
      for (const laterMs of [0, 0.1, 0.5, 0.9, 1, 1.5].map((share) => nowMs + share * lengthMs)) {
        expect(remaining(policy, refunded, laterMs)).toBeLessThanOrEqual(remaining(policy, without, laterMs))
        expect(remaining(policy, refunded, laterMs)).toBeGreaterThanOrEqual(
          remaining(policy, withCharge, laterMs),
        )
      }
    }),
    { numRuns: 500 },
  )
})

test('a refund in a window from the first request returns its units until that window ends', () => {
  fc.assert(
    fc.property(fromFirstRequest, moment, takes, fc.nat({ max: 59 }), ({ policy }, startMs, trace, which) => {
      let state: State | undefined
      let nowMs = startMs
      let charged: { cost: number; atMs: number; endMs: number } | undefined
      trace.forEach((take, i) => {
        nowMs += waitMs(policy, take)
        const cost = costOf(policy, take)
        const { allowed, next, resetAfterMs } = policy.take(state, nowMs, cost)
        state = stateAfter(state, next)
        if (i === which % trace.length && allowed)
          charged = { cost, atMs: nowMs, endMs: nowMs + resetAfterMs }
      })
      if (charged === undefined || state === undefined) return
      const { cost, atMs, endMs } = charged
      const refunded = policy.refund(state, nowMs, cost, atMs)
      for (const laterMs of [0, 0.1, 0.5, 0.9, 1, 1.5].map((share) => nowMs + share * policy.windowMs)) {
        const returned = nowMs < endMs && laterMs < endMs ? cost : 0
        expect(remaining(policy, refunded, laterMs)).toBe(remaining(policy, state, laterMs) + returned)
      }
    }),
    { numRuns: 500 },
  )
})

test('a charge that is refunded at once leaves no trace', () => {
  fc.assert(
    fc.property(anyPolicy, moment, takes, ({ policy }, startMs, trace) => {
      let state: State | undefined
      let nowMs = startMs
      for (const take of trace) {
        nowMs += waitMs(policy, take)
        const cost = costOf(policy, take)
        const { allowed, next } = policy.take(state, nowMs, cost)
        if (allowed && next !== undefined) {
          const refunded = policy.refund(next, nowMs, cost, nowMs)
          expect(policy.take(refunded, nowMs, 0)).toEqual(policy.take(state, nowMs, 0))
        }
        state = stateAfter(state, next)
      }
    }),
  )
})

test('refunds after the window in which the units were taken restore nothing', () => {
  fc.assert(
    fc.property(
      anyPolicy,
      moment,
      fc.double({ min: 1, max: 3, noNaN: true }),
      ({ policy }, startMs, windows) => {
        fc.pre(Number.isFinite(policy.windowMs))
        const laterMs = startMs + windows * policy.windowMs + policy.windowMs + 1
        const { next } = policy.take(undefined, laterMs, policy.limit)
        const refunded = policy.refund(next as State, laterMs, policy.limit, startMs)
        expect(refunded).toEqual(next)
      },
    ),
  )
})
