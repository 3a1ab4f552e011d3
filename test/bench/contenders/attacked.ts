import { byIp, createLimiter, type Decision } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { REDIS_STORES } from './redis-stores.js'
import { flexibleLimiter, longWindow } from './server-contender.js'

/** Charges a client one unit. Returns whether that was allowed, without a promise if no server is called. */
export type Decide = (client: string) => boolean | Promise<boolean>

const connect = (url: string) => new Redis(url, { autoResendUnfulfilledCommands: false })

/** As an application has it: the limiter over a protected store. */
function headgate(denyCache: false | undefined) {
  return (url: string, limit: number): Decide => {
    const limiter = createLimiter({
      store: redisStore(connect(url)),
      policy: longWindow(limit),
      key: byIp(),
      name: denyCache === false ? 'asking' : 'knowing',
      timeout: 10_000, // a slow machine is no outage
      ...(denyCache === false && { denyCache }),
    })
    limiter.events.on('storeError', (error) => {
      throw error
    })
    return (client) => limiter.charge({ ip: client }).then(wasAllowed)
  }
}

function wasAllowed({ allowed }: Decision): boolean {
  return allowed
}

function rateLimitRedis(url: string, limit: number): Decide {
  const made = REDIS_STORES['rate-limit-redis'](url, limit)
  return async (client) => (await made).decide(client)
}

function rateLimiterFlexible(isBlocking: boolean) {
  return (url: string, limit: number): Decide => {
    const duration = longWindow(limit).windowMs / 1000
    const blocking = isBlocking ? { inMemoryBlockOnConsumed: limit, keyPrefix: 'blocking' } : {}
    const storeClient = connect(url)
    return flexibleLimiter(new RateLimiterRedis({ storeClient, points: limit, duration, ...blocking })).decide
  }
}

/** Makers by name, for a server and a limit per client. */
export const ATTACKED = {
  headgate: headgate(undefined),
  'headgate, denyCache: false': headgate(false),
  'rate-limit-redis': rateLimitRedis,
  'rate-limiter-flexible': rateLimiterFlexible(false),
  'rate-limiter-flexible, inMemoryBlock': rateLimiterFlexible(true),
} as const satisfies Readonly<Record<string, (url: string, limit: number) => Decide>>

export type AttackedName = keyof typeof ATTACKED
