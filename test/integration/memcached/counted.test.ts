import { fixedWindow, type Policy, slidingWindow, type Verdict } from 'headgate'
import { decideOn } from '../../../src/stores/memcached/counted.js'
import { countersOf } from '../../../src/stores/memcached/counters.js'
import { part } from '../../conformance/kit.js'

const SLICE_MS = 6000
const NOW_MS = 1_790_000_000_000 // where a slice begins
const fixed = fixedWindow({ limit: 10, window: 60_000 })
const sliding = slidingWindow({ limit: 10, window: 60_000 })

/** The verdict on a cost where so much stood in this slice's counter, in the next one's, and in those before. */
function decided(policy: Policy, cost: number, before: number, next = 0, older: number[] = []): Verdict {
  const counters = countersOf(policy)
  if (counters === undefined) throw new Error('it counts')
  const around = {
    next,
    older: Array.from({ length: counters.older }, (_, i) => older[i] ?? 0),
    areOld: false,
  }
  const works = [{ charge: [part('key', policy, cost)] }]
  const slice = Math.floor(NOW_MS / SLICE_MS)
  const [result] = decideOn(works, counters, slice, { before, added: cost }, around, NOW_MS)
  return result as Verdict
}

test.each([
  ['a fixed window is used up', decided(fixed, 1, 10), undefined],
  ['a fixed window is nearly used up', decided(fixed, 3, 8), undefined],
  ['more is counted than a fixed window has', decided(fixed, 1, 11), true],
  ['somebody’s clock is ahead, and more is counted', decided(fixed, 1, 6, 5), true],
  ['a sliding window is used up in all its slices', decided(sliding, 1, 2, 0, [8]), undefined],
  ['a sliding window is nearly used up', decided(sliding, 2, 1, 0, [8]), undefined],
  ['more is counted in all slices than a sliding window has', decided(sliding, 2, 3, 0, [8]), true],
])('a denial is tentative where it may be over soon: %s', (_, verdict, isTentative) => {
  expect(verdict).toMatchObject({ allowed: false })
  expect(verdict.isTentative).toBe(isTentative)
})

test('what is allowed is never tentative', () => {
  expect(decided(sliding, 1, 1, 0, [8])).toMatchObject({ allowed: true })
  expect(decided(fixed, 0, 11)).not.toHaveProperty('isTentative')
})
