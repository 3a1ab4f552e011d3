import type { Store } from 'headgate'
import type { StormQuestion } from '../../bench/memcached-storm-child.js'
import { bucketOf, type StormCounts } from '../../bench/memcached-storm-counts.js'
import { chargeStore } from '../../support/store-calls.js'

/**
 * Runs a storm in one process of several: each caller charges one unit after the other, until the time is
 * over. Rejects with whatever fails.
 */
export async function runStorm(
  store: Store,
  { key, callers, forMs, ...storm }: StormQuestion,
): Promise<StormCounts> {
  const policy = bucketOf({ ...storm, callers, forMs })
  const counts = { allowed: 0, denied: 0, ranOut: 0, firstMs: Number.POSITIVE_INFINITY, lastMs: 0 }
  const endMs = performance.now() + forMs
  async function call(): Promise<void> {
    while (performance.now() < endMs) {
      const [verdict] = await chargeStore(store, [[{ key, policy, cost: 1 }]])
      if (verdict === undefined) throw new Error('The store returned no verdict.')
      counts[verdict.allowed ? 'allowed' : 'denied']++
      counts.firstMs = Math.min(counts.firstMs, verdict.atMs)
      counts.lastMs = Math.max(counts.lastMs, verdict.atMs)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return counts
}
