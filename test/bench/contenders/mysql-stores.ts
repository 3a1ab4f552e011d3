import type { Policy } from 'headgate'
import { mysqlStore } from 'headgate/mysql'
import mysql, { type Pool } from 'mysql2'
import { createPool } from 'mysql2/promise'
import { RateLimiterMySQL } from 'rate-limiter-flexible'
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

const CONNECTIONS = 10

/** On a table of its own, as the peer. */
async function headgate(url: string, policy: Policy, table: string = policy.spec.kind, on = headgateOn) {
  const pool = createPool({ uri: url, connectionLimit: CONNECTIONS })
  const store = mysqlStore(pool, { table: `headgate_${table.replace('-', '_')}` })
  await store.prepare()
  return on(store, policy)
}

/** With a pool that answers by callbacks, which is the one that it takes. */
const connect = (url: string) => mysql.createPool({ uri: url, connectionLimit: CONNECTIONS })

const rateLimiterFlexible = (url: string, limit: number) => rateLimiterFlexibleOn(url, connect(url), limit)

async function rateLimiterFlexibleOn(url: string, storeClient: Pool, limit: number, keyPrefix = 'rlflx') {
  const options = { storeClient, dbName: new URL(url).pathname.slice(1), tableName: 'flexible', keyPrefix }
  const limiter = await new Promise<RateLimiterMySQL>((resolve, reject) => {
    const ready = (error?: Error) => (error ? reject(error) : resolve(made))
    const made = new RateLimiterMySQL(
      { ...options, points: limit, duration: longWindow(limit).windowMs / 1000 },
      ready,
    )
  })
  return flexibleLimiter(limiter)
}

/** Makers by name. */
export const MYSQL_STORES = {
  ...ours(headgate),
  'headgate, limiter': (url, limit) => headgate(url, slowBucket(limit), 'limiter', headgateLimiterOn),
  'rate-limiter-flexible': rateLimiterFlexible,
} as const satisfies Readonly<Record<string, MakeContender>>

export type MysqlStoreName = keyof typeof MYSQL_STORES

/** Makers of contenders with two limits on one pool. */
export const TWO_MYSQL_LIMITS = {
  'headgate, two limits': (url, limit) => headgate(url, slowBucket(limit), 'two_limits', headgateTwoLimitsOn),
  'rate-limiter-flexible, two calls': async (url, limit) => {
    const pool = connect(url)
    return bothAtOnce(
      await rateLimiterFlexibleOn(url, pool, limit, 'first'),
      await rateLimiterFlexibleOn(url, pool, limit, 'second'),
    )
  },
} as const satisfies Readonly<Record<string, MakeContender>>
