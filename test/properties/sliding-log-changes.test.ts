import fc from 'fast-check'
import { slidingLog } from 'headgate'
import type { State } from 'headgate/store'
import { PlainLog } from './plain-log.js'

/** A charge by a process that has one of several versions of the numbers. */
const charge = fc.record({
  version: fc.nat(2),
  wait: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 4000 })),
  cost: fc.oneof(fc.nat(3), fc.nat(14)),
})
const charges = fc.array(charge, { maxLength: 80, size: 'max' })
const limit = fc.integer({ min: 1, max: 12 })
const limits = fc.array(limit, { minLength: 2, maxLength: 3 })
/** One second to 8 years. */
const windowMs = fc.integer({ min: 0, max: 28 }).map((n) => 1000 * 2 ** n)
const numbers = fc.array(fc.record({ limit, window: windowMs }), { minLength: 2, maxLength: 3 })
const start = fc.integer({ min: 0, max: 8e12 }).map((quarters) => quarters / 4)

const at = <T>(list: readonly T[], i: number) => list[i % list.length] as T

test('processes with different limits on one key each see all units of the window', () => {
  fc.assert(
    fc.property(limits, windowMs, start, charges, (all, window, startMs, trace) => {
      const policies = all.map((limit) => slidingLog({ limit, window }))
      const plain = new PlainLog()
      let state: State | undefined
      let nowMs = startMs
      const steps = trace.map(({ version, wait, cost }) => {
        nowMs += Math.round((wait / 1000) * window)
        const policy = at(policies, version)
        const { next, ...figures } = policy.take(state, nowMs, cost)
        state = next ?? state
        const expected = plain.charge({ limit: policy.limit, windowMs: window }, nowMs, cost)
        const changes = expected.allowed && cost > 0
        return { seen: { ...figures, changes: next !== undefined }, expected: { ...expected, changes } }
      })
      expect(steps.map(({ seen }) => seen)).toEqual(steps.map(({ expected }) => expected))
    }),
    { numRuns: 500 },
  )
})

test('the shortest of different windows on one key never has more than its limit', () => {
  fc.assert(
    fc.property(numbers, start, charges, (all, startMs, trace) => {
      const policies = all.map((options) => slidingLog(options))
      const shortest = Math.min(...policies.map((policy) => policy.windowMs))
      const admitted: number[] = []
      let state: State | undefined
      let nowMs = startMs
      for (const { version, wait, cost } of trace) {
        nowMs += Math.round((wait / 1000) * shortest)
        const policy = at(policies, version)
        const { allowed, next } = policy.take(state, nowMs, cost)
        state = next ?? state
        if (allowed) admitted.push(...Array<number>(cost).fill(nowMs))
        const units = admitted.filter((atMs) => atMs > nowMs - shortest).length
        if (allowed && cost > 0 && policy.windowMs === shortest)
          expect(units).toBeLessThanOrEqual(policy.limit)
      }
    }),
    { numRuns: 500 },
  )
})
