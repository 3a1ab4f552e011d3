import { type Policy, slidingWindow, tokenBucket } from 'headgate'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import { postgres } from '../sql/postgres-kind.js'
import { setUpDatabase } from '../sql/set-up-database.js'

/**
 * So many a second: each comes back after 4899.52/4096 ms, which is 4900/4096 ms on the grid of a bucket's
 * times. Rounding makes no bucket slower by more.
 */
const REFILL = 836
const SLOWER = 4900 / (4_096_000 / REFILL)

/** How long windows are, in seconds. */
const WINDOWS_S = [60, ...Array.from({ length: 30 }, (_, i) => 600 + 37 * i)]

/**
 * Returns these windows, and others. An expiry is rounded up to a multiple of an eighth of the window. One
 * that does not know how much slower the bucket is than its window is too short just before the end of an
 * eighth: that of each of the others ends in some seconds.
 */
function windowsAt(nowMs: number): readonly number[] {
  const eighths = Array.from({ length: 90_000 }, (_, i) => 10_000 + i)
  const ending = eighths.filter((eighth) => {
    const leftS = eighth - ((nowMs / 1000) % eighth)
    return leftS > 3 && leftS < 0.98 * (SLOWER - 1) * 8 * eighth
  })
  return [...WINDOWS_S, ...ending.map((eighth) => 8 * eighth)]
}

const bucketOf = (seconds: number) => tokenBucket({ capacity: REFILL * seconds, refill: REFILL, every: '1s' })

const windowOf = (slices: number) => (seconds: number) =>
  slidingWindow({ limit: 10, window: 1000 * seconds, slices })

const KINDS: readonly (readonly [string, (seconds: number) => Policy])[] = [
  ['a token bucket that rounding makes slower than its window', bucketOf],
  ['a sliding window of 1 slice', windowOf(1)],
  ['a sliding window of 3 slices', windowOf(3)],
  ['a sliding window of 10 slices', windowOf(10)],
]

/** All that a policy has, taken in different ways. */
const TAKINGS: readonly (readonly [string, (policy: Policy, key: string) => readonly Parts[]])[] = [
  ['a single charge', (policy, key) => [[part(key, policy, policy.limit)]]],
  ['two single charges', (policy, key) => [[part(key, policy)], [part(key, policy, policy.limit - 1)]]],
  [
    'a charge of two parts',
    (policy, key) => [[part(key, policy, policy.limit), part(`beside ${key}`, policy)]],
  ],
]

const database = setUpDatabase(postgres)

describe.each(KINDS)('the row of %s', (_title, policyOf) => {
  test.each(TAKINGS)('is kept until all units are available again, after %s', async (_taking, chargesOf) => {
    const { store, pool, table } = await database.makeStore()
    const tooEarlyMs: number[] = []
    for (const seconds of windowsAt(Date.now())) {
      const key = `in ${seconds}`
      let freshAtMs = 0
      for (const charge of chargesOf(policyOf(seconds), key)) {
        const [verdict] = await chargeStore(store, [charge])
        expect(verdict?.allowed).toBe(true)
        freshAtMs = (verdict?.atMs ?? 0) + (verdict?.parts[0]?.resetAfterMs ?? Number.NaN)
      }
      const [row] = await pool.run(`SELECT expires_at FROM ${table} WHERE key = '${key}'`)
      const expiresAtMs = 1000 * Number(row?.expires_at)
      expect(expiresAtMs - freshAtMs).toBeLessThan(2 * 1000 * Math.max(60, seconds)) // and not for ever
      if (expiresAtMs < freshAtMs) tooEarlyMs.push(freshAtMs - expiresAtMs)
    }
    expect(tooEarlyMs).toEqual([])
  })
})

test('the bucket of these tests is full 0.0098% later than its window ends', () => {
  for (const seconds of WINDOWS_S) {
    const { resetAfterMs } = bucketOf(seconds).take(undefined, 0, REFILL * seconds)
    expect(resetAfterMs / (1000 * seconds)).toBeCloseTo(1.000098, 6)
  }
})
