import { StoreError } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { Client } from 'memjs'
import { chargeStore } from '../support/store-calls.js'
import { answerQuestions } from './harness/child.js'
import { bucketOf, type Storm, type StormCounts } from './memcached-storm-counts.js'

/** The parent's question: a storm on a key, which may be fresh. */
export interface StormQuestion extends Storm {
  readonly key: string
}

const [url = ''] = process.argv.slice(2)
const client = Client.create(url)
const store = memcachedStore(client)
process.once('disconnect', () => process.exit()) // an open connection would keep it running

/**
 * Each caller charges one unit after the other, until the time is over. Anything but attempts that ran out
 * ends it.
 */
async function rage({ key, ...storm }: StormQuestion): Promise<StormCounts> {
  const policy = bucketOf(storm)
  const counts = { allowed: 0, denied: 0, ranOut: 0, firstMs: Number.POSITIVE_INFINITY, lastMs: 0 }
  const endMs = performance.now() + storm.forMs
  async function charge(): Promise<void> {
    const [verdict] = await chargeStore(store, [[{ key, policy, cost: 1 }]])
    if (verdict === undefined) throw new Error('There was no verdict.')
    counts[verdict.allowed ? 'allowed' : 'denied']++
    counts.firstMs = Math.min(counts.firstMs, verdict.atMs)
    counts.lastMs = Math.max(counts.lastMs, verdict.atMs)
  }
  async function call(): Promise<void> {
    while (performance.now() < endMs) {
      await charge().catch((error: unknown) => {
        if (!(error instanceof StoreError && error.message.includes('other processes changed'))) throw error
        counts.ranOut++
      })
    }
  }
  await Promise.all(Array.from({ length: storm.callers }, call))
  return counts
}

answerQuestions(rage)
