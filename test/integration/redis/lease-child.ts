import { createLimiter, fixedWindow, type Policy, redisStore, slidingWindow, tokenBucket } from 'headgate'
import { Redis } from 'ioredis'
import { answerQuestions } from '../../bench/harness/child.js'

/** One process of several: so many callers charge one key, each as fast as it can, so many times or for so long. */
export interface Order {
  readonly policy: keyof typeof LEASED_POLICIES
  readonly callers: number
  readonly each: number
  readonly forMs: number
}

/** What came of the charges of one process. */
export interface Counts {
  readonly allowed: number
  readonly denied: number
  /** How many were answered without the store. */
  readonly here: number
}

export const LIMIT = 4000

export const LEASED_POLICIES = {
  tokenBucket: tokenBucket({ capacity: LIMIT, refill: LIMIT, every: '1000d' }),
  slidingWindow: slidingWindow({ limit: LIMIT, window: '1000d' }),
  fixedWindow: fixedWindow({ limit: LIMIT, window: '1000d' }),
  fastBucket: tokenBucket({ capacity: LIMIT, refill: LIMIT, every: '2s' }),
} as const satisfies Record<string, Policy>

/** One limit for all. */
export function limiterOptions(policy: Order['policy']) {
  return { name: policy, policy: LEASED_POLICIES[policy], key: () => 'all', timeoutMs: 5000 }
}

function serve(url: string): void {
  const client = new Redis(url, { autoResendUnfulfilledCommands: false })
  const store = redisStore(client)
  const connected = client.ping()
  process.on('disconnect', () => client.disconnect())
  answerQuestions(async ({ policy, callers, each, forMs }: Order): Promise<Counts> => {
    await connected
    const limiter = createLimiter({ ...limiterOptions(policy), store, lease: { processes: 4 } })
    const counts = { allowed: 0, denied: 0, here: 0 }
    const endMs = performance.now() + forMs
    const call = async () => {
      for (let i = 0; i < each && performance.now() < endMs; i++) {
        const { allowed, source } = await limiter.charge(undefined)
        counts[allowed ? 'allowed' : 'denied']++
        if (source !== 'store') counts.here++
      }
    }
    await Promise.all(Array.from({ length: callers }, call))
    await limiter.close()
    return counts
  })
}

const [url = ''] = process.argv.slice(2)
if (process.send !== undefined && url.startsWith('redis://')) serve(url)
