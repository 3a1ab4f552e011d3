import type { Options } from 'express-rate-limit'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { createClient } from 'redis'
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
  type ServerContender,
  slowBucket,
} from './server-contender.js'

const WINDOW_MS = longWindow(1).windowMs
export const connect = (url: string) => new Redis(url, { autoResendUnfulfilledCommands: false })

async function nodeRedisStore(url: string) {
  const client = createClient({ url }).on('error', (error) => {
    throw error // no connection is lost here
  })
  return redisStore(await client.connect())
}

const rateLimitRedis = (url: string, limit: number, windowMs = WINDOW_MS) =>
  rateLimitRedisOn(connect(url), limit, 'rl:', windowMs)

async function rateLimitRedisOn(client: Redis, limit: number, prefix: string, windowMs = WINDOW_MS) {
  const store = new RedisStore({
    prefix,
    sendCommand: (...args: string[]) =>
      client.call(...(args as [string, ...string[]])) as Promise<RedisReply>,
  })
  await store.init({ windowMs } as Options)
  return expressStore(store, limit, async (key) => (await store.get(key))?.totalHits ?? 0)
}

const rateLimiterFlexible = (url: string, limit: number, windowMs = WINDOW_MS) =>
  rateLimiterFlexibleOn(connect(url), limit, 'rlflx', windowMs)

function rateLimiterFlexibleOn(storeClient: Redis, limit: number, keyPrefix: string, windowMs = WINDOW_MS) {
  const duration = windowMs / 1000
  return flexibleLimiter(new RateLimiterRedis({ storeClient, points: limit, duration, keyPrefix }))
}

export const headgateLimiter: MakeContender = (url, limit) =>
  headgateLimiterOn(redisStore(connect(url)), slowBucket(limit))

export const headgateTwoLimits: MakeContender = (url, limit) =>
  headgateTwoLimitsOn(redisStore(connect(url)), slowBucket(limit))

/** Makers by name. All clients are of ioredis, unless the name says otherwise. */
export const REDIS_STORES = {
  'headgate, token bucket': (url, limit) => headgateOn(redisStore(connect(url)), slowBucket(limit)),
  'headgate, fixed window': (url, limit) => headgateOn(redisStore(connect(url)), longWindow(limit)),
  'headgate, limiter': headgateLimiter,
  'headgate, token bucket on redis 6': async (url, limit) =>
    headgateOn(await nodeRedisStore(url), slowBucket(limit), 'redis'),
  'headgate, limiter on redis 6': async (url, limit) =>
    headgateLimiterOn(await nodeRedisStore(url), slowBucket(limit), 'redis-limiter'),
  'rate-limit-redis': rateLimitRedis,
  'rate-limiter-flexible': rateLimiterFlexible,
} as const satisfies Readonly<Record<string, MakeContender>>

export type RedisStoreName = keyof typeof REDIS_STORES

/** Makers of contenders with two limits on one client. */
export const TWO_REDIS_LIMITS = {
  'headgate, two limits': headgateTwoLimits,
  'headgate, two limits on redis 6': async (url, limit) =>
    headgateTwoLimitsOn(await nodeRedisStore(url), slowBucket(limit), 'redis-two-limits'),
  'headgate, two limiters': (url, limit) => {
    const store = redisStore(connect(url))
    const [first, second] = ['first', 'second'].map((name) =>
      headgateLimiterOn(store, slowBucket(limit), name),
    ) as [ServerContender, ServerContender]
    return bothAtOnce(first, second)
  },
  'rate-limit-redis, two stores': async (url, limit) => {
    const client = connect(url)
    return oneAfterTheOther(
      await rateLimitRedisOn(client, limit, 'rl-first:'),
      await rateLimitRedisOn(client, limit, 'rl-second:'),
    )
  },
  'rate-limiter-flexible, two calls': (url, limit) => {
    const client = connect(url)
    return bothAtOnce(
      rateLimiterFlexibleOn(client, limit, 'rlflx-first'),
      rateLimiterFlexibleOn(client, limit, 'rlflx-second'),
    )
  },
} as const satisfies Readonly<Record<string, MakeContender>>
