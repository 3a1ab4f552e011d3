import { promisify } from 'node:util'
import type { Options } from 'express-rate-limit'
import type { Policy } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import Memcached from 'memcached'
import { Client } from 'memjs'
import { MemcachedStore } from 'rate-limit-memcached'
import { RateLimiterMemcache } from 'rate-limiter-flexible'
import {
  bothAtOnce,
  expressStore,
  flexibleLimiter,
  headgateLimiterOn,
  headgateOn,
  headgateTwoLimitsOn,
  longWindow,
  type MakeContender,
  oneAfterTheOther,
  ours,
  slowBucket,
} from './server-contender.js'

/**
 * The peers hand memcached their window as it is, and above 30 days memcached takes it for a date in 1970.
 */
const WINDOW_S = 30 * 24 * 60 * 60

const headgate = (url: string, policy: Policy) => headgateOn(memcachedStore(Client.create(url)), policy)

const rateLimitMemcached = (url: string, limit: number) => rateLimitMemcachedOn(new Memcached(url), limit)

function rateLimitMemcachedOn(client: Memcached, limit: number, prefix = 'rl:') {
  const store = new MemcachedStore({ client, prefix })
  store.init({ windowMs: WINDOW_S * 1000 } as Options)
  const get = promisify<string, unknown>(client.get).bind(client)
  return expressStore(store, limit, async (key) => Number((await get(store.prefix + key)) ?? 0))
}

const rateLimiterFlexible = (url: string, limit: number) => rateLimiterFlexibleOn(new Memcached(url), limit)

function rateLimiterFlexibleOn(storeClient: Memcached, limit: number, keyPrefix = 'rlflx') {
  const options = { storeClient, points: limit, duration: WINDOW_S, keyPrefix }
  return flexibleLimiter(new RateLimiterMemcache(options))
}

/** Makers by name. */
export const MEMCACHED_STORES = {
  ...ours(headgate),
  'headgate, limiter': (url, limit) =>
    headgateLimiterOn(memcachedStore(Client.create(url)), longWindow(limit)),
  'rate-limit-memcached': rateLimitMemcached,
  'rate-limiter-flexible': rateLimiterFlexible,
} as const satisfies Readonly<Record<string, MakeContender>>

export type MemcachedStoreName = keyof typeof MEMCACHED_STORES

/** Makers of a limiter with a bucket, and of contenders with two limits on one client. */
export const MEMCACHED_GATED = {
  'headgate, limiter with a bucket': (url, limit) =>
    headgateLimiterOn(memcachedStore(Client.create(url)), slowBucket(limit), 'bucket'),
  'headgate, two windows': (url, limit) =>
    headgateTwoLimitsOn(memcachedStore(Client.create(url)), longWindow(limit)),
  'headgate, two buckets': (url, limit) =>
    headgateTwoLimitsOn(memcachedStore(Client.create(url)), slowBucket(limit), 'two-buckets'),
  'rate-limit-memcached, two stores': (url, limit) => {
    const client = new Memcached(url)
    return oneAfterTheOther(
      rateLimitMemcachedOn(client, limit, 'rl-first:'),
      rateLimitMemcachedOn(client, limit, 'rl-second:'),
    )
  },
  'rate-limiter-flexible, two calls': (url, limit) => {
    const client = new Memcached(url)
    return bothAtOnce(
      rateLimiterFlexibleOn(client, limit, 'rlflx-first'),
      rateLimiterFlexibleOn(client, limit, 'rlflx-second'),
    )
  },
} as const satisfies Readonly<Record<string, MakeContender>>
