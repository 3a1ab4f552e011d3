import fc from 'fast-check'
import type { Policy } from 'headgate'
import type { State } from 'headgate/store'
import { applyOperation } from '../../src/stores/shared/apply-batch.js'
import {
  anyPolicy,
  bannedPolicy,
  basePolicy,
  costOf,
  moment,
  shareUpTo,
  stateAfter,
  type Take,
  takes,
  waitMs,
} from './arbitrary-policies.js'

const LATER = [0, 0.1, 0.5, 0.9, 1, 1.5]

/** Returns the state after a trace, and the time. */
function afterTrace(policy: Policy, startMs: number, trace: readonly Take[]) {
  let state: State | undefined
  let nowMs = startMs
  for (const take of trace) {
    nowMs += waitMs(policy, take)
    state = stateAfter(state, policy.take(state, nowMs, costOf(policy, take)).next)
  }
  return { state, nowMs }
}

const remaining = (policy: Policy, state: State | undefined, nowMs: number) =>
  policy.take(state, nowMs, 0).remaining

const longestOf = ({ longestBanMs }: Policy) => longestBanMs as number
const blocked = (policy: Policy, state: State | undefined, nowMs: number, forMs: number) =>
  policy.block?.(state, nowMs, forMs) as State

/** Whether a ban is running, during which nothing remains. */
function isBanned(policy: Policy, state: State | undefined, nowMs: number): boolean {
  return policy.isBan === true && (state?.at(-1) ?? 0) > nowMs
}

test('a reward restores exactly its units, as far as they were taken, and the client is never worse off later', () => {
  fc.assert(
    fc.property(anyPolicy, moment, takes, shareUpTo(1.2), ({ policy }, startMs, trace, share) => {
      const { state, nowMs } = afterTrace(policy, startMs, trace)
      const units = Math.round(share * policy.limit)
      if (state === undefined) return
      const rewarded = policy.reward(state, nowMs, units)
      const lengthMs = Number.isFinite(policy.windowMs) ? policy.windowMs : 1000
      if (!isBanned(policy, state, nowMs)) {
        const expected = Math.min(policy.limit, remaining(policy, state, nowMs) + units)
        expect(remaining(policy, rewarded, nowMs)).toBe(expected)
      }
      for (const laterMs of LATER.map((part) => nowMs + part * lengthMs))
        expect(remaining(policy, rewarded, laterMs)).toBeGreaterThanOrEqual(remaining(policy, state, laterMs))
      expect(policy.take(rewarded, nowMs, policy.limit + 1).allowed).toBe(false)
    }),
    { numRuns: 300 },
  )
})

test('a reward of all that was taken leaves a fresh state, also after the clock has stepped back', () => {
  fc.assert(
    fc.property(basePolicy, moment, takes, shareUpTo(3), ({ policy }, startMs, trace, backShare) => {
      const { state, nowMs } = afterTrace(policy, startMs, trace)
      const lengthMs = Number.isFinite(policy.windowMs) ? policy.windowMs : 1000
      const backMs = nowMs - backShare * lengthMs
      if (state === undefined) return
      expect(policy.reward(state, backMs, Number.MAX_SAFE_INTEGER)).toBeUndefined()
      expect(policy.reward(state, backMs, 0)).toBe(state)
    }),
    { numRuns: 500 },
  )
})

test('a penalty takes its units, or all that is left', () => {
  fc.assert(
    fc.property(anyPolicy, moment, takes, shareUpTo(1.2), ({ policy }, startMs, trace, share) => {
      const { state, nowMs } = afterTrace(policy, startMs, trace)
      const units = Math.round(share * policy.limit)
      const before = remaining(policy, state, nowMs)
      const operation = { type: 'take', key: '', policy, units } as const
      const { state: after, result } = applyOperation(operation, state, nowMs)
      const taken = Math.min(units, before)
      expect(result).toMatchObject({ taken, remaining: before - taken })
      expect(remaining(policy, after, nowMs)).toBe(before - taken)
    }),
    { numRuns: 500 },
  )
})

test('a ban by hand denies exactly until its end, takes nothing, and ends no longer ban', () => {
  fc.assert(
    fc.property(
      bannedPolicy(basePolicy),
      moment,
      takes,
      shareUpTo(1),
      ({ policy }, startMs, trace, share) => {
        const { state: before, nowMs } = afterTrace(policy, startMs, trace)
        const state = before && policy.clampToNow(before, nowMs)
        const banMs = Math.max(1, Math.floor(share * longestOf(policy)))
        const banned = blocked(policy, state, nowMs, banMs)
        const endMs = Math.max(nowMs + banMs, state?.at(-1) ?? 0)
        expect(policy.clampToNow(banned, nowMs)).toBe(banned)
        const figures = policy.take(banned, nowMs, 1)
        expect(figures).toMatchObject({ allowed: false, remaining: 0 })
        expect(figures.retryAfterMs).toBeGreaterThanOrEqual(endMs - nowMs)
        expect(figures.resetAfterMs).toBeGreaterThanOrEqual(endMs - nowMs)
        expect(policy.take(banned, nowMs + 0.9 * (endMs - nowMs), 1).allowed).toBe(false)
        const own = state?.slice(0, -4).concat(0, 0, 0, 0)
        expect(remaining(policy, banned, endMs)).toBe(remaining(policy, own, endMs))
      },
    ),
    { numRuns: 500 },
  )
})

test('an attempt during a ban by hand never shortens it', () => {
  fc.assert(
    fc.property(bannedPolicy(basePolicy), moment, shareUpTo(1), ({ policy }, nowMs, share) => {
      const banned = blocked(policy, undefined, nowMs, longestOf(policy))
      const laterMs = nowMs + 0.9 * share * longestOf(policy)
      const attempt = policy.take(banned, laterMs, 1)
      expect(attempt.allowed).toBe(false)
      const endsAtMs = (stateAfter(banned, attempt.next) as State).at(-1)
      expect(endsAtMs).toBeGreaterThanOrEqual(nowMs + longestOf(policy))
    }),
  )
})
