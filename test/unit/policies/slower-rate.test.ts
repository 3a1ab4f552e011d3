import { tokenBucket } from 'headgate'
import { applyOperation } from '../../../src/stores/shared/apply-batch.js'

const NOW_MS = 1_790_000_000_000
const fast = tokenBucket({ capacity: 2 ** 37, refill: 2 ** 37, every: '1d' })
const slow = tokenBucket({ capacity: 1, refill: 1, every: '10y' })

test('after a change to a rate at which the units in use take longer than numbers hold, all figures are bounded', () => {
  const { next } = fast.take(undefined, NOW_MS, fast.limit)
  const peek = slow.take(next, NOW_MS, 0)
  const denial = slow.take(next, NOW_MS, 1)
  for (const { resetAfterMs, moreAfterMs, retryAfterMs } of [peek, denial])
    for (const ms of [resetAfterMs, moreAfterMs, retryAfterMs])
      expect(ms).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER)
  expect(denial).toMatchObject({ allowed: false, remaining: 0 })
  expect(Number.isSafeInteger(denial.debt)).toBe(true)
  const after = slow.take(denial.next ?? next, NOW_MS + 1000, 1)
  expect(after.allowed).toBe(false)
  expect(after.retryAfterMs).toBeLessThanOrEqual(denial.retryAfterMs)
})

test('a debt that would take longer is bounded, and so are the figures of one who owes it', () => {
  const owing = tokenBucket({ capacity: 1, refill: 1, every: '10y', debt: 2 ** 37 })
  const operation = { type: 'take', key: 'a', policy: owing, units: Number.MAX_SAFE_INTEGER } as const
  const { state, result } = applyOperation(operation, undefined, NOW_MS)
  expect(result).toMatchObject({ type: 'take', remaining: 0 })
  const { resetAfterMs, moreAfterMs, debt } = owing.take(state, NOW_MS, 0)
  expect(resetAfterMs).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER)
  expect(moreAfterMs).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER)
  expect(debt).toBe(owing.debt)
})
