import fc from 'fast-check'
import type { State } from 'headgate/store'
import {
  allThatIsLeft,
  anyPolicy,
  costOf,
  endingPolicy,
  moment,
  shareUpTo,
  stateAfter,
  takes,
  waitMs,
} from './arbitrary-policies.js'

interface Shown {
  readonly allowed: boolean
  readonly remaining: number
}

/** How far a clock jumps, in windows. */
const jump = fc.oneof(shareUpTo(3), shareUpTo(1e4))

test('rule 5: a step back in time never shows more remaining, nor allows what was denied', () => {
  fc.assert(
    fc.property(anyPolicy, moment, takes, jump, ({ policy }, startMs, trace, windows) => {
      let state: State | undefined
      let nowMs = startMs
      const steps = trace.map((take) => {
        nowMs += waitMs(policy, take)
        const cost = costOf(policy, take)
        state = stateAfter(state, policy.take(state, nowMs, cost).next)
        const backMs = nowMs - windows * (Number.isFinite(policy.windowMs) ? policy.windowMs : 1000)
        const [now, back] = [nowMs, backMs].map((atMs) => ({
          allowed: policy.take(state, atMs, 1).allowed,
          remaining: policy.take(state, atMs, 0).remaining,
        })) as [Shown, Shown]
        return { now, back, showsLess: back.remaining <= now.remaining && (now.allowed || !back.allowed) }
      })
      expect(steps.filter(({ showsLess }) => !showsLess)).toEqual([])
    }),
  )
})

test('rule 5: with a clock that keeps stepping back, no span of real time admits more than promised', () => {
  const stepping = fc.array(fc.record({ at: fc.nat({ max: 59 }), windows: jump }), { maxLength: 5 })
  fc.assert(
    fc.property(anyPolicy, moment, takes, stepping, ({ policy, most }, startMs, trace, steps) => {
      const lengthMs = Number.isFinite(policy.windowMs) ? policy.windowMs : 1000
      let state: State | undefined
      let trueMs = 0
      let behindMs = 0
      const admitted: { trueMs: number; cost: number }[] = []
      trace.forEach((take, i) => {
        trueMs += waitMs(policy, take)
        for (const { at, windows } of steps) if (at === i) behindMs += windows * lengthMs
        const nowMs = startMs + trueMs - behindMs
        const greedy = take.costShare > 0.2 ? allThatIsLeft(policy, state, nowMs) : costOf(policy, take)
        const cost = Math.max(1, greedy) // one more than there is left is denied, and may put the state right
        const step = policy.take(state, nowMs, cost)
        state = stateAfter(state, step.next)
        if (step.allowed) admitted.push({ trueMs, cost })
      })
      const excesses = admitted.flatMap((from, i) => {
        let sum = 0
        return admitted.slice(i).flatMap((to) => {
          sum += to.cost
          // Doubles are 1/4096 ms apart, so a true time may be read a little longer than it is.
          return sum <= most(to.trueMs - from.trueMs + 0.001) ? [] : [{ from, to, sum }]
        })
      })
      expect(excesses).toEqual([])
    }),
  )
})

test('rule 5: a clock that was ahead and came back locks nobody out for longer than promised', () => {
  fc.assert(
    fc.property(
      endingPolicy,
      moment,
      takes,
      jump,
      ({ policy, longestLockoutMs }, startMs, trace, windows) => {
        let state: State | undefined
        let aheadMs = startMs + windows * policy.windowMs
        for (const take of trace) {
          aheadMs += waitMs(policy, take)
          state = stateAfter(state, policy.take(state, aheadMs, costOf(policy, take)).next)
        }
        state = stateAfter(state, policy.take(state, aheadMs, allThatIsLeft(policy, state, aheadMs)).next)
        let nowMs = startMs
        let tries = 0
        for (let step = policy.take(state, nowMs, 1); !step.allowed; step = policy.take(state, nowMs, 1)) {
          state = stateAfter(state, step.next)
          nowMs += step.retryAfterMs
          expect(nowMs - startMs).toBeLessThanOrEqual(longestLockoutMs)
          expect(++tries).toBeLessThan(3)
        }
      },
    ),
  )
})

test('rule 5: a clamped state decides as the original, and clamping it again changes nothing', () => {
  fc.assert(
    fc.property(anyPolicy, moment, takes, jump, ({ policy }, startMs, trace, windows) => {
      const lengthMs = Number.isFinite(policy.windowMs) ? policy.windowMs : 1000
      let state: State | undefined
      let nowMs = startMs
      for (const take of trace) {
        nowMs += waitMs(policy, take)
        const cost = costOf(policy, take)
        state = stateAfter(state, policy.take(state, nowMs, cost).next)
        expect(policy.clampToNow(state, nowMs)).toBe(state)
        const backMs = nowMs - windows * lengthMs
        if (backMs < 0 || backMs > 2e12) continue // doubles of later times are coarser than a bucket's grid
        const clamped = policy.clampToNow(state, backMs)
        expect(policy.clampToNow(clamped, backMs)).toBe(clamped)
        const { next, ...figures } = policy.take(state, backMs, cost)
        const { next: nextOfClamped, ...figuresOfClamped } = policy.take(clamped, backMs, cost)
        expect(figuresOfClamped).toEqual(figures)
        expect(cost > 0 ? (nextOfClamped ?? clamped) : undefined).toEqual(
          cost > 0 ? (next ?? state) : undefined,
        )
      }
    }),
  )
})
