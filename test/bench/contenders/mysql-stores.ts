import type { Policy } from 'headgate'
import { mysqlStore } from 'headgate/mysql'
import mysql from 'mysql2'
import { createPool } from 'mysql2/promise'
import { RateLimiterMySQL } from 'rate-limiter-flexible'
import {
  flexibleLimiter,
  headgateLimiterOn,
  headgateOn,
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
async function rateLimiterFlexible(url: string, limit: number) {
  const storeClient = mysql.createPool({ uri: url, connectionLimit: CONNECTIONS })
  const options = { storeClient, dbName: new URL(url).pathname.slice(1), tableName: 'flexible' }
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
