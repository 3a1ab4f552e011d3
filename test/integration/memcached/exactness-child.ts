import { StoreError } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import type { ChargeResult, MaybePromise } from 'headgate/store'
import { Client } from 'memjs'
import { answerQuestions } from '../../bench/harness/child.js'
import { chargeStore } from '../../support/store-calls.js'
import { type Order, POLICIES } from '../redis/exactness-child.js'

/** What came of the charges of one process. */
export interface Counts {
  allowed: number
  denied: number
  /** Attempts of a compare-and-swap that others won each time. They took nothing. */
  ranOut: number
}

/**
 * One process of several: runs so many callers, each charging as fast as it can. Anything else that goes
 * wrong ends it.
 */
function serve(url: string): void {
  const client = Client.create(url, { timeout: 30 })
  const store = memcachedStore(client)
  process.on('disconnect', () => client.close())
  answerQuestions(async ({ parts, callers, each }: Order): Promise<Counts> => {
    const charge = parts.map(({ key, policy, limit }) => ({ key, policy: POLICIES[policy](limit), cost: 1 }))
    const counts = { allowed: 0, denied: 0, ranOut: 0 }
    const call = async () => {
      for (let i = 0; i < each; i++) counts[await resultOf(chargeStore(store, [charge]))]++
    }
    await Promise.all(Array.from({ length: callers }, call))
    return counts
  })
}

async function resultOf(call: MaybePromise<readonly ChargeResult[]>): Promise<keyof Counts> {
  try {
    const [verdict] = await call
    return verdict?.allowed ? 'allowed' : 'denied'
  } catch (error) {
    if (error instanceof StoreError && error.message.includes('other processes changed')) return 'ranOut'
    throw error
  }
}

const [url] = process.argv.slice(2)
if (process.send !== undefined && url !== undefined) serve(url)
