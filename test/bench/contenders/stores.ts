import { type Options, MemoryStore as PeerStore } from 'express-rate-limit'
import { fixedWindow, memoryStore, type Policy, slidingWindow, tokenBucket } from 'headgate'
import type { ChargeResult } from 'headgate/store'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

/** Units per key and window; the window is far longer than a run, so that all are counted in one. */
export const LIMIT = 10_000
const WINDOW_MS = 20 * 24 * 60 * 60 * 1000 // both peers' timers end at 24.8 days

/** A memory store in the way that its own users call it. */
export interface StoreContender {
  /** Charges keys one after the other, from `from` on and round again; gives how many were allowed. */
  charge(keys: readonly string[], from: number, count: number): number | Promise<number>
  /** How many units of a key are used. */
  used(key: string): number | Promise<number>
}

function headgate(policy: Policy, maxKeys: number): StoreContender {
  const store = memoryStore({ maxKeys })
  const charge = (key: string, cost: number) =>
    store.apply([{ type: 'charge', parts: [{ key, policy, cost }] }])[0] as ChargeResult
  return {
    charge(keys, from, count) {
      let allowed = 0
      for (let i = from; i < from + count; i++) {
        const key = keys[i % keys.length] as string
        if (charge(key, 1).allowed) allowed++
      }
      return allowed
    },
    used(key) {
      return LIMIT - (charge(key, 0).parts[0]?.remaining ?? Number.NaN)
    },
  }
}

/** express-rate-limit's store counts, and its middleware compares with the limit. */
function expressRateLimit(): StoreContender {
  const store = new PeerStore()
  store.init({ windowMs: WINDOW_MS } as Options)
  return {
    async charge(keys, from, count) {
      let allowed = 0
      for (let i = from; i < from + count; i++) {
        const { totalHits } = await store.increment(keys[i % keys.length] as string)
        if (totalHits <= LIMIT) allowed++
      }
      return allowed
    },
    used: async (key) => (await store.get(key))?.totalHits ?? 0,
  }
}

/** Without its key prefix, which would make it build a string that the others do not build here. */
function rateLimiterFlexible(): StoreContender {
  const limiter = new RateLimiterMemory({ points: LIMIT, duration: WINDOW_MS / 1000, keyPrefix: '' })
  return {
    async charge(keys, from, count) {
      let allowed = 0
      for (let i = from; i < from + count; i++) {
        try {
          await limiter.consume(keys[i % keys.length] as string)
          allowed++
        } catch (denial) {
          if (!(denial instanceof RateLimiterRes)) throw denial
        }
      }
      return allowed
    },
    used: async (key) => (await limiter.get(key))?.consumedPoints ?? 0,
  }
}

/** Makers by name; each gets the number of keys that it will hold. */
export const STORES = {
  'headgate, token bucket': (keys: number) =>
    headgate(tokenBucket({ capacity: LIMIT, refill: LIMIT, every: '365d' }), keys), // no token comes back in a run
  'headgate, fixed window': (keys: number) => headgate(fixedWindow({ limit: LIMIT, window: '365d' }), keys),
  'headgate, sliding window': (keys: number) =>
    headgate(slidingWindow({ limit: LIMIT, window: '365d' }), keys),
  'express-rate-limit': expressRateLimit,
  'rate-limiter-flexible': rateLimiterFlexible,
} as const

export type StoreName = keyof typeof STORES
