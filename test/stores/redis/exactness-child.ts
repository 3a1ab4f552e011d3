import { consecutive, fixedWindow, type Policy, redisStore, slidingWindow, tokenBucket } from 'headgate'
import { Cluster, Redis } from 'ioredis'

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

async function serve(urls: readonly string[]): Promise<void> {
  const client = clientOf(urls)
  const store = redisStore(client)
  await client.ping()
  process.on('disconnect', () => client.disconnect())
  process.on('message', async ({ parts, callers, each }: Order) => {
    const charge = parts.map(({ key, policy, limit }) => ({ key, policy: POLICIES[policy](limit), cost: 1 }))
    const counts = { allowed: 0, denied: 0 }
    const call = async () => {
      for (let i = 0; i < each; i++) {
        const [verdict] = await store.charge([charge])
        counts[verdict?.allowed ? 'allowed' : 'denied']++
      }
    }
    await Promise.all(Array.from({ length: callers }, call))
    process.send?.(counts)
  })
  process.send?.('ready')
}

const urls = process.argv.slice(2)
if (process.send !== undefined && urls[0]?.startsWith('redis://')) serve(urls)
