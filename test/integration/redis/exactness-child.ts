import { consecutive, fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Cluster, Redis } from 'ioredis'
import { answerQuestions } from '../../bench/harness/child.js'

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

/** A client for one server, or for the Cluster of several. */
function clientOf(urls: readonly string[]): Redis | Cluster {
  const [url = ''] = urls
  if (urls.length === 1) return new Redis(url, { autoResendUnfulfilledCommands: false })
  return new Cluster([...urls], { retryDelayOnFailover: 0 })
}

function serve(urls: readonly string[]): void {
  const client = clientOf(urls)
  const store = redisStore(client)
  const connected = client.ping()
  process.on('disconnect', () => client.disconnect())
  answerQuestions(async ({ parts, callers, each }: Order): Promise<Counts> => {
    await connected
    const charge = parts.map(({ key, policy, limit }) => ({ key, policy: POLICIES[policy](limit), cost: 1 }))
    const counts = { allowed: 0, denied: 0 }
    const call = async () => {
      for (let i = 0; i < each; i++) {
        const [verdict] = await store.charge([charge])
        counts[verdict?.allowed ? 'allowed' : 'denied']++
      }
    }
    await Promise.all(Array.from({ length: callers }, call))
    return counts
  })
}

const urls = process.argv.slice(2)
if (process.send !== undefined && urls[0]?.startsWith('redis://')) serve(urls)
