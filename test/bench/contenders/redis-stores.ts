import type { Options } from 'express-rate-limit'
import { redisStore } from 'headgate'
import { Redis } from 'ioredis'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import {
  expressStore,
  FIXED_WINDOW,
  flexibleLimiter,
  headgateOn,
  LIMIT,
  type MakeContender,
  TOKEN_BUCKET,
} from './server-contender.js'

const WINDOW_MS = FIXED_WINDOW.windowMs
const connect = (url: string) => new Redis(url, { autoResendUnfulfilledCommands: false })

async function rateLimitRedis(url: string) {
  const client = connect(url)
  const store = new RedisStore({
    sendCommand: (...args: string[]) =>
      client.call(...(args as [string, ...string[]])) as Promise<RedisReply>,
  })
  await store.init({ windowMs: WINDOW_MS } as Options)
  return expressStore(store, async (key) => (await store.get(key))?.totalHits ?? 0)
}

function rateLimiterFlexible(url: string) {
  const storeClient = connect(url)
  return flexibleLimiter(new RateLimiterRedis({ storeClient, points: LIMIT, duration: WINDOW_MS / 1000 }))
}

/** Makers by name. */
export const REDIS_STORES = {
  'headgate, token bucket': (url) => headgateOn(redisStore(connect(url)), TOKEN_BUCKET),
  'headgate, fixed window': (url) => headgateOn(redisStore(connect(url)), FIXED_WINDOW),
  'rate-limit-redis': rateLimitRedis,
  'rate-limiter-flexible': rateLimiterFlexible,
} as const satisfies Readonly<Record<string, MakeContender>>

export type RedisStoreName = keyof typeof REDIS_STORES
