import { createLimiter, fixedWindow, leased, type Policy, type Store, tokenBucket } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { chargeStore } from '../../support/store-calls.js'
import { REDIS_STORES } from './redis-stores.js'

/** A limiter of one key, called as its users call it. */
export interface HotKeyContender {
  /** Charges one unit. Returns whether that was allowed. */
  decide(): boolean | Promise<boolean>
  /** Ends it. Returns what the key has left in the store. */
  end(): Promise<number>
}

/** The limit of the key, and the processes that share it. */
export interface Limit {
  readonly units: number
  readonly windowMs: number
  readonly processes: number
}

type Make = (url: string, limit: Limit) => Promise<HotKeyContender>

const bucketOf = ({ units, windowMs }: Limit) =>
  tokenBucket({ capacity: units, refill: units, every: `${windowMs}ms` })
const windowOf = ({ units, windowMs }: Limit) => fixedWindow({ limit: units, window: windowMs })

const leasedBy =
  ({ processes }: Limit) =>
  (store: Store) =>
    leased(store, { processes })

async function headgate(url: string, name: string, policy: Policy, wrap = (store: Store) => store) {
  const client = new Redis(url, { autoResendUnfulfilledCommands: false })
  const store = wrap(redisStore(client))
  const limiter = createLimiter({ name, key: () => 'all', store, policy, timeout: 10_000 })
  limiter.events.on('storeError', (error) => {
    throw error
  })
  await limiter.peek(undefined)
  return {
    decide: () => limiter.charge(undefined).then(({ allowed }) => allowed),
    async end() {
      await limiter.close()
      return (await limiter.peek(undefined)).remaining
    },
  }
}

/** The store alone, as the peers are called. */
async function leasedStore(url: string, policy: Policy, processes: number): Promise<HotKeyContender> {
  const client = new Redis(url, { autoResendUnfulfilledCommands: false })
  const store = leased(redisStore(client), { processes })
  const charges = [[{ key: 'hg:3:store:all', policy, cost: 1 }]]
  return {
    decide() {
      const answer = chargeStore(store, charges)
      return answer instanceof Promise
        ? answer.then(([verdict]) => verdict?.allowed === true)
        : answer[0]?.allowed === true
    },
    async end() {
      await store.close?.()
      const [verdict] = await chargeStore(store, [[{ key: 'hg:3:store:all', policy, cost: 0 }]])
      return verdict?.parts[0]?.remaining ?? Number.NaN
    },
  }
}

async function rateLimitRedis(url: string, { units, windowMs }: Limit): Promise<HotKeyContender> {
  const contender = await REDIS_STORES['rate-limit-redis'](url, units, windowMs)
  return {
    decide: () => contender.decide('all'),
    end: async () => units - (await contender.used('all')),
  }
}

async function rateLimiterFlexible(url: string, { units, windowMs }: Limit): Promise<HotKeyContender> {
  const contender = REDIS_STORES['rate-limiter-flexible'](url, units, windowMs)
  return {
    decide: () => contender.decide('all'),
    end: async () => units - (await contender.used('all')),
  }
}

/** Makers by name. */
export const HOT_KEY_CONTENDERS = {
  'headgate, leased token bucket': (url, limit) => headgate(url, 'leased', bucketOf(limit), leasedBy(limit)),
  'headgate, leased fixed window': (url, limit) => headgate(url, 'leased', windowOf(limit), leasedBy(limit)),
  'headgate, leased store': (url, limit) => leasedStore(url, windowOf(limit), limit.processes),
  'headgate, token bucket': (url, limit) => headgate(url, 'direct', bucketOf(limit)),
  'rate-limit-redis': rateLimitRedis,
  'rate-limiter-flexible': rateLimiterFlexible,
} as const satisfies Readonly<Record<string, Make>>

export type HotKeyName = keyof typeof HOT_KEY_CONTENDERS
