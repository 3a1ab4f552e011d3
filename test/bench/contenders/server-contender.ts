import assert from 'node:assert/strict'
import type { Store as ExpressStore } from 'express-rate-limit'
import {
  byIp,
  createLimiter,
  fixedWindow,
  type Policy,
  type Store,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import type { Charge } from 'headgate/store'
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { keyCodeOf } from '../../../src/policies/spec.js'
import { request } from '../../../src/stores/shared/pipe.js'
import { pipeTo } from '../../../src/stores/shared/store-pipe.js'

/**
 * The longest there is, so that all is counted in one window, and that a bucket is refilled as slowly as
 * can be.
 */
const WINDOW = '3650d'

export const slowBucket = (limit: number) => tokenBucket({ capacity: limit, refill: limit, every: WINDOW })
export const longWindow = (limit: number) => fixedWindow({ limit, window: WINDOW })
const longSlidingWindow = (limit: number) => slidingWindow({ limit, window: WINDOW })

/** A store on a server in the way that its own users call it. */
export interface ServerContender {
  /** The key of a client, as it is handed to the store. */
  keyOf(address: string): string
  /** Takes one unit. Returns whether that was allowed. */
  decide(key: string): Promise<boolean>
  /** How many units of a key are used. */
  used(key: string): Promise<number>
  /** Takes units of a key until only this many are left. */
  leave?(key: string, units: number): Promise<void>
}

/** Makes a contender with a client of its own for the server at an address, with a limit per key. */
export type MakeContender = (url: string, limit: number) => ServerContender | Promise<ServerContender>

/**
 * The store itself, as limiters send to it, without all that protects it. Contenders that share a server and
 * a kind of policy need different names.
 */
export function headgateOn(store: Store, policy: Policy, name = 'api'): ServerContender {
  const pipe = pipeTo(store)
  const take = async (key: string, cost: number) =>
    request<Charge>(pipe, { type: 'charge', parts: [{ key, policy, cost }] })
  const remaining = async (key: string) => (await take(key, 0)).parts[0]?.remaining ?? Number.NaN
  return {
    keyOf: (address) => `hg:3:${name}:${keyCodeOf(policy.spec)}:{${address}}`, // as a limiter makes it
    decide: async (key) => (await take(key, 1)).allowed,
    used: async (key) => policy.limit - (await remaining(key)),
    async leave(key, units) {
      await take(key, (await remaining(key)) - units)
    },
  }
}

/** A store behind a limiter, with all that protects it. It has time to decide: nothing else decides. */
export function headgateLimiterOn(store: Store, policy: Policy, name = 'limiter'): ServerContender {
  const limiter = createLimiter<{ ip: string }>({
    name,
    policy,
    key: byIp(),
    store,
    timeout: 5_000,
  })
  return {
    keyOf: (address) => address,
    async decide(ip) {
      const { allowed, source } = await limiter.charge({ ip })
      assert.ok(source === 'store' || source === 'deny-cache', `The store did not decide, but ${source}.`)
      return allowed
    },
    used: async (ip) => policy.limit - (await limiter.peek({ ip })).remaining,
    async leave(ip, units) {
      await limiter.charge({ ip }, { cost: (await limiter.peek({ ip })).remaining - units })
    },
  }
}

/** Ours with each policy, by name. */
export function ours(make: (url: string, policy: Policy) => ReturnType<MakeContender>) {
  return {
    'headgate, token bucket': (url, limit) => make(url, slowBucket(limit)),
    'headgate, fixed window': (url, limit) => make(url, longWindow(limit)),
    'headgate, sliding window': (url, limit) => make(url, longSlidingWindow(limit)),
  } as const satisfies Readonly<Record<string, MakeContender>>
}

/** A store of express-rate-limit counts, and the middleware compares with the limit. */
export function expressStore(
  store: Pick<ExpressStore, 'increment'>,
  limit: number,
  used: ServerContender['used'],
): ServerContender {
  return {
    keyOf: (address) => address,
    decide: async (key) => (await store.increment(key)).totalHits <= limit,
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
