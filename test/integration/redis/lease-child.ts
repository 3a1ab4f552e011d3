import { createLimiter, fixedWindow, leased, type Policy, slidingWindow, tokenBucket } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { answerQuestions } from '../../bench/harness/child.js'

/** Callers in one process charge one key as fast as they can: `each` times, for `forMs` at most. */
export interface Order {
  readonly policy: keyof typeof LEASED_POLICIES
  readonly callers: number
  readonly each: number
  readonly forMs: number
}

/** The decisions of one process. */
export interface Counts {
  readonly allowed: number
  readonly denied: number
  /** Decisions without a call of the store. */
  readonly local: number
}

export const LIMIT = 4000

export const LEASED_POLICIES = {
  tokenBucket: tokenBucket({ capacity: LIMIT, refill: LIMIT, every: '1000d' }),
  slidingWindow: slidingWindow({ limit: LIMIT, window: '1000d' }),
  fixedWindow: fixedWindow({ limit: LIMIT, window: '1000d' }),
  fastBucket: tokenBucket({ capacity: LIMIT, refill: LIMIT, every: '2s' }),
} as const satisfies Record<string, Policy>

/** Returns the options that all processes share. */
export function limiterOptions(policy: Order['policy']) {
  return { name: policy, policy: LEASED_POLICIES[policy], key: () => 'all', timeout: 5000 }
}

function serve(url: string): void {
  const client = new Redis(url, { autoResendUnfulfilledCommands: false })
  const store = leased(redisStore(client), { processes: 4 })
  const connected = client.ping()
  process.on('disconnect', () => client.disconnect())
  answerQuestions(async ({ policy, callers, each, forMs }: Order): Promise<Counts> => {
    await connected
    const limiter = createLimiter({ ...limiterOptions(policy), store })
    const counts = { allowed: 0, denied: 0, local: 0 }
    const endMs = performance.now() + forMs
    // A bucket that refills is under overload once it has denied some: how soon depends on the machine.
    const isOver = () => performance.now() >= endMs || (policy === 'fastBucket' && counts.denied >= 1000)
    const runCaller = async () => {
      for (let i = 0; i < each && !isOver(); i++) {
        const { allowed, source } = await limiter.charge(undefined)
        counts[allowed ? 'allowed' : 'denied']++
        if (source !== 'store') counts.local++
      }
    }
    await Promise.all(Array.from({ length: callers }, runCaller))
    await limiter.close()
    return counts
  })
}

const [url = ''] = process.argv.slice(2)
if (process.send !== undefined && url.startsWith('redis://')) serve(url)
