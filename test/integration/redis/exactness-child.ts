import { consecutive, fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Cluster } from 'ioredis'
import type { NodeRedisClusterClient } from '../../../src/stores/redis/node-redis/client.js'
import { answerQuestions } from '../../bench/harness/child.js'
import { chargeStore } from '../../support/store-calls.js'

/** One process of several: runs so many callers, each charging one key after the other as fast as it can. */
export interface Order {
  readonly parts: readonly {
    readonly key: string
    readonly policy: keyof typeof POLICIES
    readonly limit: number
  }[]
  readonly callers: number
  readonly each: number
}

/** What came of the charges of one process. */
export interface Counts {
  allowed: number
  denied: number
}

export const POLICIES = {
  tokenBucket: (limit) => tokenBucket({ capacity: limit, refill: limit, every: '1000d' }),
  slidingWindow: (limit) => slidingWindow({ limit, window: '1000d' }),
  fixedWindow: (limit) => fixedWindow({ limit, window: '1000d' }),
  consecutive: (limit) => consecutive({ limit }),
} as const satisfies Record<string, (limit: number) => Policy>

/** A connected client for the Cluster of some servers. */
async function connect(driver: string, urls: readonly string[]): Promise<Cluster | NodeRedisClusterClient> {
  if (driver === 'redis 6') {
    const { createCluster } = await import('redis') // not loaded by the others
    const client = createCluster({ rootNodes: urls.map((url) => ({ url })) })
    return client.on('error', console.error).connect()
  }
  const client = new Cluster([...urls], { retryDelayOnFailover: 0 })
  await client.ping()
  return client
}

function serve(driver: string, urls: readonly string[]): void {
  const connected = connect(driver, urls)
  process.on('disconnect', () => process.exit())
  answerQuestions(async ({ parts, callers, each }: Order): Promise<Counts> => {
    const store = redisStore(await connected)
    const charge = parts.map(({ key, policy, limit }) => ({ key, policy: POLICIES[policy](limit), cost: 1 }))
    const counts = { allowed: 0, denied: 0 }
    const call = async () => {
      for (let i = 0; i < each; i++) {
        const [verdict] = await chargeStore(store, [charge])
        counts[verdict?.allowed ? 'allowed' : 'denied']++
      }
    }
    await Promise.all(Array.from({ length: callers }, call))
    return counts
  })
}

// Arguments: a driver, and the addresses of the nodes.
const [driver = '', ...urls] = process.argv.slice(2)
if (process.send !== undefined && urls[0]?.startsWith('redis://')) serve(driver, urls)
