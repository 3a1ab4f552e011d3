import { fixedWindow, type Policy, slidingWindow } from 'headgate'
import type { ChargeResult } from 'headgate/store'
import { countersOf, evaluate } from '../../../src/stores/memcached/counters.js'
import { part } from '../../../src/testing/conformance/store-calls.js'

const NOW_MS = 1_790_000_000_000 // where a slice begins
const fixed = fixedWindow({ limit: 10, window: 60_000 })
const sliding = slidingWindow({ limit: 10, window: 60_000 })

/** The verdict on a cost, for the counts of this slice, of the next one and of those before. */
function decide(policy: Policy, cost: number, before: number, next = 0, older: number[] = []): ChargeResult {
  const counts = Array.from({ length: countersOf(policy).older }, (_, i) => older[i] ?? 0)
  const charge = { type: 'charge', parts: [part('key', policy, cost)] } as const
  const [result] = evaluate([charge], policy, before, { next, older: counts }, NOW_MS)
  return result as ChargeResult
}

test.each([
  ['a fixed window is used up', decide(fixed, 1, 10), undefined],
  ['a fixed window is nearly used up', decide(fixed, 3, 8), undefined],
  ['more is counted than a fixed window has', decide(fixed, 1, 11), true],
  ['a process whose clock is ahead has counted more', decide(fixed, 1, 6, 5), true],
  ['a sliding window is used up in all its slices', decide(sliding, 1, 2, 0, [8]), undefined],
  ['a sliding window is used up in older slices', decide(sliding, 1, 0, 0, [4, 6]), undefined],
  ['a sliding window is nearly used up', decide(sliding, 2, 1, 0, [8]), undefined],
  ['more is counted in all slices than a sliding window has', decide(sliding, 2, 3, 0, [8]), true],
  ['more is counted in older slices than a sliding window has', decide(sliding, 1, 0, 0, [3, 8]), true],
])('a denial is tentative if units are about to be refunded: %s', (_, verdict, isTentative) => {
  expect(verdict).toMatchObject({ allowed: false })
  expect(verdict.isTentative).toBe(isTentative)
})

test('an allowed charge is never tentative', () => {
  expect(decide(sliding, 1, 1, 0, [8])).toMatchObject({ allowed: true })
  expect(decide(fixed, 0, 11)).not.toHaveProperty('isTentative')
})
