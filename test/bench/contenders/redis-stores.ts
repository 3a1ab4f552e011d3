import type { Options } from 'express-rate-limit'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { createClient } from 'redis'
import {
  expressStore,
  flexibleLimiter,
  headgateLimiterOn,
  headgateOn,
  longWindow,
  type MakeContender,
  slowBucket,
} from './server-contender.js'

const WINDOW_MS = longWindow(1).windowMs
const connect = (url: string) => new Redis(url, { autoResendUnfulfilledCommands: false })

async function nodeRedisStore(url: string) {
  const client = createClient({ url }).on('error', (error) => {
    throw error // no connection is lost here
  })
  return redisStore(await client.connect())
}

async function rateLimitRedis(url: string, limit: number, windowMs = WINDOW_MS) {
  const client = connect(url)
  const store = new RedisStore({
    sendCommand: (...args: string[]) =>
      client.call(...(args as [string, ...string[]])) as Promise<RedisReply>,
  })
  await store.init({ windowMs } as Options)
  return expressStore(store, limit, async (key) => (await store.get(key))?.totalHits ?? 0)
}

function rateLimiterFlexible(url: string, limit: number, windowMs = WINDOW_MS) {
  const storeClient = connect(url)
  return flexibleLimiter(new RateLimiterRedis({ storeClient, points: limit, duration: windowMs / 1000 }))
}

/** Makers by name. All clients are of ioredis, unless the name says otherwise. */
export const REDIS_STORES = {
  'headgate, token bucket': (url, limit) => headgateOn(redisStore(connect(url)), slowBucket(limit)),
  'headgate, fixed window': (url, limit) => headgateOn(redisStore(connect(url)), longWindow(limit)),
  'headgate, limiter': (url, limit) => headgateLimiterOn(redisStore(connect(url)), slowBucket(limit)),
  'headgate, token bucket on redis 6': async (url, limit) =>
    headgateOn(await nodeRedisStore(url), slowBucket(limit), 'redis'),
  'headgate, limiter on redis 6': async (url, limit) =>
    headgateLimiterOn(await nodeRedisStore(url), slowBucket(limit), 'redis-limiter'),
  'rate-limit-redis': rateLimitRedis,
  'rate-limiter-flexible': rateLimiterFlexible,
} as const satisfies Readonly<Record<string, MakeContender>>

export type RedisStoreName = keyof typeof REDIS_STORES
