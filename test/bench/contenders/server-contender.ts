import type { Store as ExpressStore } from 'express-rate-limit'
import { fixedWindow, type Policy, type Store, slidingWindow, tokenBucket } from 'headgate'
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'

/** Units per key and window: more than a run takes. The window is so long that all is counted in one. */
export const LIMIT = 2_000_000
const WINDOW = '3650d'

export const TOKEN_BUCKET = tokenBucket({ capacity: LIMIT, refill: LIMIT, every: '36500d' }) // no token comes back in a run
export const FIXED_WINDOW = fixedWindow({ limit: LIMIT, window: WINDOW })
export const SLIDING_WINDOW = slidingWindow({ limit: LIMIT, window: WINDOW })

/** A store on a server in the way that its own users call it. */
export interface ServerContender {
  /** The key of a client, as it is handed to the store. */
  keyOf(address: string): string
  /** Takes one unit, and tells whether that was allowed. */
  decide(key: string): Promise<boolean>
  /** How many units of a key are used. */
  used(key: string): Promise<number>
  /** Takes all that is left of a key but so many units. */
  leave?(key: string, units: number): Promise<void>
}

/** Makes a contender with a client of its own for the server at an address. */
export type MakeContender = (url: string) => ServerContender | Promise<ServerContender>

export function headgateOn(store: Store, policy: Policy): ServerContender {
  const signature = [policy.kind, ...policy.params].join('-')
  const take = async (key: string, cost: number) => (await store.charge([[{ key, policy, cost }]]))[0]
  const remaining = async (key: string) => (await take(key, 0))?.parts[0]?.remaining ?? Number.NaN
  return {
    keyOf: (address) => `hg:1:api:${signature}:{${address}}`, // as a limiter makes it
    decide: async (key) => (await take(key, 1))?.allowed === true,
    used: async (key) => LIMIT - (await remaining(key)),
    async leave(key, units) {
      await take(key, (await remaining(key)) - units)
    },
  }
}

/** A store of express-rate-limit counts, and the middleware compares with the limit. */
export function expressStore(
  store: Pick<ExpressStore, 'increment'>,
  used: ServerContender['used'],
): ServerContender {
  return {
    keyOf: (address) => address,
    decide: async (key) => (await store.increment(key)).totalHits <= LIMIT,
    used,
  }
}

/** A limiter of rate-limiter-flexible rejects with what it denies. */
export function flexibleLimiter(limiter: RateLimiterAbstract): ServerContender {
  return {
    keyOf: (address) => address,
    async decide(key) {
      try {
        await limiter.consume(key)
        return true
      } catch (denial) {
        if (!(denial instanceof RateLimiterRes)) throw denial
        return false
      }
    },
    used: async (key) => (await limiter.get(key))?.consumedPoints ?? 0,
  }
}
