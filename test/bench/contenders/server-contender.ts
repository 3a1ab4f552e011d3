import assert from 'node:assert/strict'
import type { Store as ExpressStore } from 'express-rate-limit'
import {
  byIp,
  createLimiter,
  fixedWindow,
  type Limiter,
  type LimiterOptions,
  type Policy,
  type Store,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import type { Charge } from 'headgate/store'
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { request } from '../../../src/pipe/pipe.js'
import { pipeTo } from '../../../src/pipe/store-end.js'
import { keyCodeOf } from '../../../src/policies/spec.js'

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
  /** What a decision on this key presupposes. It is not measured. */
  prepare?(key: string): Promise<void>
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

/** A store behind a limiter, with all that protects it. */
export function headgateLimiterOn(store: Store, policy: Policy, name = 'limiter'): ServerContender {
  return contenderOf(limiterOn(store, name, { policy, key: byIp() }))
}

/** A limiter with two limits of the same numbers, which decides both together. */
export function headgateTwoLimitsOn(store: Store, policy: Policy, name = 'two-limits'): ServerContender {
  const limits = ['first', 'second'].map((limitName) => ({ name: limitName, policy, key: byIp() }))
  return contenderOf(limiterOn(store, name, { limits }))
}

export interface Client {
  readonly ip: string
}

type Limits = Pick<LimiterOptions<Client>, 'policy' | 'key' | 'limits'>

/** A limiter that has time to ask its store. */
export const limiterOn = (store: Store, name: string, limits: Limits): Limiter<Client> =>
  createLimiter<Client>({ ...limits, name, store, timeout: 5_000 })

function contenderOf(limiter: Limiter<Client>): ServerContender {
  return {
    keyOf: (address) => address,
    async decide(ip) {
      const { allowed, source } = await limiter.charge({ ip })
      assert.ok(source === 'store' || source === 'deny-cache', `The store did not decide, but ${source}.`)
      return allowed
    },
    async used(ip) {
      const { parts } = await limiter.peek({ ip })
      return usedByAll(parts.map(({ limit, remaining }) => limit - remaining))
    },
    async leave(ip, units) {
      await limiter.charge({ ip }, { cost: (await limiter.peek({ ip })).remaining - units })
    },
  }
}

/** Two limits that decide one after the other, as two middlewares of express-rate-limit do. */
export function oneAfterTheOther(first: ServerContender, second: ServerContender): ServerContender {
  const decide = async (key: string) => (await first.decide(key)) && second.decide(key)
  return { keyOf: first.keyOf, decide, used: usedOf([first, second]) }
}

/** Two limits that decide at once, as a `RateLimiterUnion` does. */
export function bothAtOnce(first: ServerContender, second: ServerContender): ServerContender {
  const both = [first, second]
  const decide = async (key: string) =>
    (await Promise.all(both.map((each) => each.decide(key)))).every(Boolean)
  return { keyOf: first.keyOf, decide, used: usedOf(both) }
}

const usedOf = (contenders: readonly ServerContender[]) => async (key: string) =>
  usedByAll(await Promise.all(contenders.map((each) => each.used(key))))

function usedByAll(counts: readonly number[]): number {
  assert.equal(new Set(counts).size, 1, `Limits that were charged together differ: ${counts}.`)
  return counts[0] as number
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
