import type { Policy } from 'headgate'
import { postgresStore } from 'headgate/postgres'
import { Pool } from 'pg'
import { RateLimiterPostgres } from 'rate-limiter-flexible'
import {
  bothAtOnce,
  flexibleLimiter,
  headgateLimiterOn,
  headgateOn,
  headgateTwoLimitsOn,
  longWindow,
  type MakeContender,
  ours,
  slowBucket,
} from './server-contender.js'

/** Connections stay open while others take their turns. */
const connect = (url: string) => new Pool({ connectionString: url, max: 10, idleTimeoutMillis: 0 })

/** On a table of its own, as the peer. */
async function headgate(url: string, policy: Policy, table: string = policy.spec.kind, on = headgateOn) {
  const store = postgresStore(connect(url), { table: `headgate_${table.replace('-', '_')}` })
  await store.prepare()
  return on(store, policy)
}

const rateLimiterFlexible = (url: string, limit: number) => rateLimiterFlexibleOn(connect(url), limit)

async function rateLimiterFlexibleOn(storeClient: Pool, limit: number, keyPrefix = 'rlflx') {
  const options = { storeClient, tableName: 'flexible', keyPrefix }
  const limiter = await new Promise<RateLimiterPostgres>((resolve, reject) => {
    const ready = (error?: Error) => (error ? reject(error) : resolve(made))
    const made = new RateLimiterPostgres(
      { ...options, points: limit, duration: longWindow(limit).windowMs / 1000 },
      ready,
    )
  })
  return flexibleLimiter(limiter)
}

/** Makers by name. */
export const POSTGRES_STORES = {
  ...ours(headgate),
  'headgate, limiter': (url, limit) => headgate(url, slowBucket(limit), 'limiter', headgateLimiterOn),
  'rate-limiter-flexible': rateLimiterFlexible,
} as const satisfies Readonly<Record<string, MakeContender>>

export type PostgresStoreName = keyof typeof POSTGRES_STORES

/** Makers of contenders with two limits on one pool. */
export const TWO_POSTGRES_LIMITS = {
  'headgate, two limits': (url, limit) => headgate(url, slowBucket(limit), 'two_limits', headgateTwoLimitsOn),
  'rate-limiter-flexible, two calls': async (url, limit) => {
    const pool = connect(url)
    return bothAtOnce(
      await rateLimiterFlexibleOn(pool, limit, 'first'),
      await rateLimiterFlexibleOn(pool, limit, 'second'),
    )
  },
} as const satisfies Readonly<Record<string, MakeContender>>
