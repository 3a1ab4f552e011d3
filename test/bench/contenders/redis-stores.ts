import type { Options } from 'express-rate-limit'
import { fixedWindow, type Policy, redisStore, tokenBucket } from 'headgate'
import type { Redis } from 'ioredis'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'

/**
 * Units per key and window: more than a run takes. The window is so long that no token comes back in a run (one does in
 * 157 seconds), and that all is counted in one window.
 */
export const LIMIT = 2_000_000
const WINDOW_DAYS = 3650
const WINDOW_MS = WINDOW_DAYS * 24 * 60 * 60 * 1000

/** A store on Redis in the way that its own users call it. */
export interface RedisContender {
  /** The key of a client, as it is handed to the store. */
  keyOf(address: string): string
  /** Takes one unit, and tells whether that was allowed. */
  decide(key: string): Promise<boolean>
  /** How many units of a key are used. */
  used(key: string): Promise<number>
  /** Takes all that is left of a key but so many units. */
  leave?(key: string, units: number): Promise<void>
}

function headgate(client: Redis, policy: Policy): RedisContender {
  const store = redisStore(client)
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

/** rate-limit-redis counts, and the middleware of express-rate-limit compares with the limit. */
async function rateLimitRedis(client: Redis): Promise<RedisContender> {
  const store = new RedisStore({
    sendCommand: (...args: string[]) =>
      client.call(...(args as [string, ...string[]])) as Promise<RedisReply>,
  })
  await store.init({ windowMs: WINDOW_MS } as Options)
  return {
    keyOf: (address) => address,
    decide: async (key) => (await store.increment(key)).totalHits <= LIMIT,
    used: async (key) => (await store.get(key))?.totalHits ?? 0,
  }
}

function rateLimiterFlexible(client: Redis): RedisContender {
  const limiter = new RateLimiterRedis({ storeClient: client, points: LIMIT, duration: WINDOW_MS / 1000 })
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

/** Makers by name. */
export const REDIS_STORES = {
  'headgate, token bucket': (client: Redis) =>
    headgate(client, tokenBucket({ capacity: LIMIT, refill: LIMIT, every: `${WINDOW_DAYS}d` })),
  'headgate, fixed window': (client: Redis) =>
    headgate(client, fixedWindow({ limit: LIMIT, window: `${WINDOW_DAYS}d` })),
  'rate-limit-redis': rateLimitRedis,
  'rate-limiter-flexible': rateLimiterFlexible,
} as const

export type RedisStoreName = keyof typeof REDIS_STORES
