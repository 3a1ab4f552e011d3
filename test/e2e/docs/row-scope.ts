/** What the cells of tables may name, beside what packages export: see `row-kinds.ts`. */
import type { Redis as Upstash } from '@upstash/redis'
import type { Request } from 'express'
import { type RateLimitInfo, rateLimit } from 'express-rate-limit'
import { fixedWindow, tokenBucket } from 'headgate'
import { Redis } from 'ioredis'
import { createPool } from 'mysql2/promise'
import * as flexible from 'rate-limiter-flexible'

export const free = tokenBucket({ capacity: 20, refill: 100, every: '1m' })
export const pro = tokenBucket({ capacity: 200, refill: 1000, every: '1m' })
export const minute = fixedWindow({ limit: 1_000_000, window: '1m', startsAt: 'first-request' })
export const isPro = (req: Request): boolean => req.get('x-plan') === 'pro'
export const isStaff = (id: string): boolean => id === 'grace'
export const log = (...args: unknown[]): void => console.log(...args)

/** Returns clients of no server, since none listens on the discard port: for each cell its own. */
export function clients() {
  const redis = new Redis(9, { lazyConnect: true, autoResendUnfulfilledCommands: false })
  redis.disconnect() // so that charges fail at once
  return {
    redis,
    pool: createPool('mysql://127.0.0.1:9/limits'),
  }
}

/** In place of a client of a Redis that is called over HTTP: each script allows a request. */
export const upstash = { evalsha: async () => [1, 5], get: async () => null } as unknown as Upstash

/** In place of a client of Redis that rate-limit-redis calls: each script allows a request. */
export const sendCommand = async (...command: string[]): Promise<string | number[]> =>
  command[0] === 'SCRIPT' ? 'digest' : [1, 60_000]

/** Under another name than headgate's `rateLimit`. */
export const expressRateLimit = rateLimit

/** A request that passed express-rate-limit. */
export type Limited = Omit<Request, 'rateLimit'> & { rateLimit: RateLimitInfo }

type First<C extends abstract new (...args: never[]) => unknown> = ConstructorParameters<C>[0]
type FlexibleOptions = First<typeof flexible.RateLimiterRedis> &
  First<typeof flexible.RateLimiterCluster> &
  First<typeof flexible.RateLimiterDrizzle> &
  First<typeof flexible.RateLimiterDynamo> &
  First<typeof flexible.RateLimiterMongo> &
  First<typeof flexible.RateLimiterPostgres> &
  First<typeof flexible.RateLimiterValkey> &
  First<typeof flexible.RateLimiterValkeyGlide> &
  First<typeof flexible.RLWrapperBlackAndWhite> &
  First<typeof flexible.RLWrapperTimeouts> &
  NonNullable<ConstructorParameters<typeof flexible.RateLimiterQueue>[1]>

/** A limiter that options of rate-limiter-flexible may wrap. */
export const memoryLimiter = new flexible.RateLimiterMemory({ points: 2, duration: 60 })

/** Constructs what rate-limiter-flexible offers without a server, which checks the values of options. */
export function constructAll(options: Partial<FlexibleOptions>): void {
  const given = { points: 5, duration: 60, storeClient: clients().redis, ...options }
  const limiter = new flexible.RateLimiterMemory(given)
  new flexible.RateLimiterRedis(given)
  new flexible.RLWrapperBlackAndWhite({ limiter, ...options })
  new flexible.RLWrapperTimeouts({ limiter, ...options })
  new flexible.RateLimiterQueue(limiter, options)
}
