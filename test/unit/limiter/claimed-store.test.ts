import { createLimiter, type Limiter, loginGuard, memoryStore, type Store, slidingWindow } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { mysqlStore } from 'headgate/mysql'
import { postgresStore } from 'headgate/postgres'
import { redisStore } from 'headgate/redis'
import { sqliteStore } from 'headgate/sqlite'
import { Redis } from 'ioredis'
import { Client } from 'memjs'
import { createPool } from 'mysql2'
import { Pool } from 'pg'
import { chargeNow } from '../../support/charge-now.js'

const five = { limit: 5, window: '1m' } as const
const TAKEN =
  "createLimiter: this store's client already serves a limiter without a name, and a second one would"
const SQLITE = { open: () => undefined, exec: () => undefined, prepare: () => undefined }

const lazyRedis = () => new Redis(1, { lazyConnect: true, autoResendUnfulfilledCommands: false })
const mysqlPool = () => createPool('mysql://127.0.0.1:1/limits')
const pgPool = () => new Pool({ host: '127.0.0.1', port: 1 })

/** Returns two stores on one client. */
type Two = () => readonly [Store, Store]

const twice =
  <Client>(open: () => Client, storeOn: (client: Client, at: number) => Store): Two =>
  () => {
    const client = open()
    return [storeOn(client, 0), storeOn(client, 1)]
  }

test.each<[string, Two]>([
  ['redisStore', twice(lazyRedis, redisStore)],
  ['memcachedStore', twice(() => Client.create('127.0.0.1:1'), memcachedStore)],
  ['mysqlStore', twice(mysqlPool, (pool) => mysqlStore(pool))],
  [
    'mysqlStore, once with promises',
    twice(mysqlPool, (pool, i) => mysqlStore(i === 0 ? pool : pool.promise())),
  ],
  ['postgresStore', twice(pgPool, (pool) => postgresStore(pool))],
  [
    'sqliteStore',
    twice(
      () => ({ ...SQLITE }),
      (database) => sqliteStore(database as never),
    ),
  ],
])('a second limiter without a name is rejected with another %s on the same client', (_name, makeStores) => {
  const [store, another] = makeStores()
  createLimiter({ ...five, store })
  expect(() => createLimiter({ ...five, store: another })).toThrow(TAKEN)
  expect(() => createLimiter({ ...five, store })).toThrow(TAKEN)
})

test('with a name or a prefix of its own, a limiter may have its own store on the same client', () => {
  const client = lazyRedis()
  createLimiter({ ...five, store: redisStore(client), name: 'first' })
  createLimiter({ ...five, store: redisStore(client) })
  expect(() => createLimiter({ ...five, store: redisStore(client), name: 'third' })).not.toThrow()
  expect(() => createLimiter({ ...five, store: redisStore(client), prefix: 'other' })).not.toThrow()
  expect(() => loginGuard({ field: 'username', store: redisStore(client) })).not.toThrow()
})

test('once a limiter or guard without a name is closed, another one may use its store', async () => {
  const client = lazyRedis()
  const limiter = createLimiter({ ...five, store: redisStore(client) })
  const guard = loginGuard({ field: 'username', store: redisStore(client) })
  await Promise.all([limiter.close(), guard.limiter.close()])
  expect(() => createLimiter({ ...five, store: redisStore(client) })).not.toThrow()
  expect(() => loginGuard({ field: 'username', store: redisStore(client) })).not.toThrow()
  expect(() => createLimiter({ ...five, store: redisStore(client) })).toThrow(TAKEN)
  await Promise.all([limiter.close(), guard.limiter.close()])
  expect(() => createLimiter({ ...five, store: redisStore(client) })).toThrow(TAKEN)
})

test('a store is free again if its limiter could not be closed, or not be created', async () => {
  const store: Store = { ...memoryStore(), close: () => Promise.reject(new Error('gone')) }
  await expect(createLimiter({ ...five, store }).close()).rejects.toThrow('gone')
  const policy = { ...slidingWindow({ limit: 1, window: '1m' }), name: 'a b' }
  expect(() => createLimiter({ policy, store })).toThrow('policy.name must be')
  expect(() => createLimiter({ ...five, store })).not.toThrow()
})

test.each<[string, object, string]>([
  [
    'a store of express-rate-limit',
    { increment() {}, decrement() {} },
    'which only headgate/express-rate-limit accepts',
  ],
  ['a client of Redis', lazyRedis(), 'such as redisStore(client)'],
  ['a pool', pgPool(), 'the store of your database'],
  ['another object', {}, 'Use memoryStore(), or the store of your database'],
])('%s is no store, and the error says what to write', (_what, store, fix) => {
  expect(() => createLimiter({ ...five, store: store as Store })).toThrow(fix)
})

test('stores on other clients, or on other tables of a pool, are apart', () => {
  const pool = pgPool()
  createLimiter({ ...five, store: postgresStore(pool) })
  expect(() => createLimiter({ ...five, store: postgresStore(pool, { table: 'limits' }) })).not.toThrow()
  expect(() => createLimiter({ ...five, store: postgresStore(pool, { table: 'headgate' }) })).toThrow(TAKEN)
  expect(() => createLimiter({ ...five, store: postgresStore(pgPool()) })).not.toThrow()
})

test('a store that wraps another one counts in the same keys, unless it has another origin', () => {
  const client = lazyRedis()
  createLimiter({ ...five, store: redisStore(client) })
  const taken = "createLimiter: this store's client already serves"
  for (const wrapped of [{ ...redisStore(client) }, Object.create(redisStore(client))])
    expect(() => createLimiter({ ...five, store: wrapped })).toThrow(taken)
  const apart = { ...redisStore(client), origin: { client, table: 'of its own' } }
  expect(() => createLimiter({ ...five, store: apart })).not.toThrow()
  expect(() => createLimiter({ ...five, store: apart })).toThrow(taken)
  expect(() => createLimiter({ ...five, store: memoryStore() })).not.toThrow()
})

test('two limiters of one name count apart, unless they are given the same store', () => {
  const make = (store?: Store) =>
    createLimiter<string>({ ...five, limit: 1, key: (id) => id, name: 'api', ...(store && { store }) })
  const chargeBoth = (limiters: readonly Limiter<string>[]) =>
    limiters.map((limiter) => chargeNow(limiter, 'ada').allowed)
  expect(chargeBoth([make(), make()])).toEqual([true, true])
  const store = memoryStore()
  expect(chargeBoth([make(store), make(store)])).toEqual([true, false])
})

test('two login guards of one name count apart, unless they are given the same store', async () => {
  const attempt = { method: 'POST', body: { username: 'ada' }, ip: '192.0.2.1', headers: {} } as never
  const limits = { account: slidingWindow({ limit: 1, window: '1m' }) }
  const guards = [1, 2].map(() => loginGuard({ field: 'username', name: 'login', limits }))
  const decisions = await Promise.all(guards.map(({ limiter }) => limiter.charge(attempt)))
  expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true])
})

test('a limiter without a store begins with one small page of states', () => {
  const limiters = Array.from({ length: 500 }, () => createLimiter<string>({ ...five, key: (id) => id }))
  const before = process.memoryUsage().arrayBuffers
  const more = Array.from({ length: 500 }, () => createLimiter<string>({ ...five, key: (id) => id }))
  const bytesOf = () => (process.memoryUsage().arrayBuffers - before) / more.length
  expect(bytesOf()).toBeLessThan(1100)
  for (const limiter of [...limiters, ...more]) limiter.charge('ada')
  expect(bytesOf()).toBeLessThan(2000)
})
