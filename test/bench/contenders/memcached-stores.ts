import { promisify } from 'node:util'
import type { Options } from 'express-rate-limit'
import type { Policy } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import Memcached from 'memcached'
import { Client } from 'memjs'
import { MemcachedStore } from 'rate-limit-memcached'
import { RateLimiterMemcache } from 'rate-limiter-flexible'
import {
  expressStore,
  flexibleLimiter,
  headgateLimiterOn,
  headgateOn,
  longWindow,
  type MakeContender,
  ours,
} from './server-contender.js'

/**
 * The peers hand memcached their window as it is, and above 30 days memcached takes it for a date in 1970.
 */
const WINDOW_S = 30 * 24 * 60 * 60

const headgate = (url: string, policy: Policy) => headgateOn(memcachedStore(Client.create(url)), policy)

function rateLimitMemcached(url: string, limit: number) {
  const client = new Memcached(url)
  const store = new MemcachedStore({ client })
  store.init({ windowMs: WINDOW_S * 1000 } as Options)
  const get = promisify<string, unknown>(client.get).bind(client)
  return expressStore(store, limit, async (key) => Number((await get(store.prefix + key)) ?? 0))
}

function rateLimiterFlexible(url: string, limit: number) {
  const storeClient = new Memcached(url)
  return flexibleLimiter(new RateLimiterMemcache({ storeClient, points: limit, duration: WINDOW_S }))
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
