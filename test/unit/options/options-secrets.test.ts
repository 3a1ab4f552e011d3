import * as core from 'headgate'
import * as cluster from 'headgate/cluster'
import * as denoKv from 'headgate/deno-kv'
import * as durableObjects from 'headgate/durable-objects'
import * as memcached from 'headgate/memcached'
import * as mysql from 'headgate/mysql'
import * as postgres from 'headgate/postgres'
import * as redis from 'headgate/redis'
import { customStore } from 'headgate/store'
import * as upstash from 'headgate/upstash'
import { createPool } from 'mysql2'
import { Pool } from 'pg'
import { chargeNow } from '../../support/charge-now.js'

const headgate = {
  ...core,
  ...cluster,
  ...denoKv,
  ...durableObjects,
  ...memcached,
  ...mysql,
  ...postgres,
  ...redis,
  ...upstash,
}
const {
  responseFor,
  ban,
  byField,
  byHeader,
  byIp,
  byUser,
  concurrency,
  consecutive,
  createLimiter,
  fixedWindow,
  leased,
  loginGuard,
  memcachedStore,
  memoryStore,
  mysqlSchema,
  mysqlStore,
  overloadGuard,
  postgresSchema,
  postgresStore,
  rateLimit,
  redisStore,
  sharedSettings,
  quota,
  slidingLog,
  slidingWindow,
  tokenBucket,
} = headgate

const decision = chargeNow(createLimiter({ limit: 1, window: '1m', key: () => 'ada' }), { ip: '192.0.2.7' })
const enough = { limit: 5, window: '1m' }
const guard = { field: 'username' }
const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
const mysqlPool = createPool('mysql://nobody@127.0.0.1:1/nowhere')
const postgresPool = new Pool()
const remote: core.Store = customStore({ name: 'remote', apply: () => [] })

/** Each place where a credential is given by mistake, of every factory: what makes it. */
const PLACES: readonly (readonly [string, (given: never) => unknown])[] = [
  ['redisStore client', redisStore],
  ['customRedisStore options', headgate.customRedisStore],
  ['customRedisStore send', (send) => headgate.customRedisStore({ send })],
  ['upstashStore options', headgate.upstashStore],
  ['upstashStore url', (url) => headgate.upstashStore({ url, token: 'a' })],
  ['upstashStore token', (token) => headgate.upstashStore({ url: 'https://127.0.0.1', token })],
  ['denoKvStore kv', headgate.denoKvStore],
  ['durableObjectsStore namespace', headgate.durableObjectsStore],
  ['clusterStore options', headgate.clusterStore],
  ['memcachedStore client', memcachedStore],
  ['mysqlStore pool', mysqlStore],
  ['mysqlStore options', (given) => mysqlStore(mysqlPool, given)],
  ['mysqlStore table', (table) => mysqlStore(mysqlPool, { table })],
  ['mysqlSchema table', mysqlSchema],
  ['postgresStore pool', postgresStore],
  ['postgresStore table', (table) => postgresStore(postgresPool, { table })],
  ['postgresSchema table', postgresSchema],
  ['postgresStore options', (given) => postgresStore(postgresPool, given)],
  ['memoryStore options', memoryStore],
  ['dumpMemory store', headgate.dumpMemory],
  ['restoreMemory store', (store) => headgate.restoreMemory(store, new Uint8Array())],
  ['responseFor options', (given) => responseFor(decision, given)],
  ['rateLimit options', rateLimit],
  ['rateLimit store', (store) => rateLimit({ ...enough, store })],
  ['rateLimit secret', (secret) => rateLimit({ ...enough, secret })],
  ['leased store', (store) => leased(store)],
  ['leased options', (given) => leased(remote, given)],
  ['sharedSettings store', (store) => sharedSettings(store)],
  ['sharedSettings options', (given) => sharedSettings(memoryStore(), given)],
  ['createLimiter settings', (settings) => createLimiter({ ...enough, name: 'api', settings })],
  ['rateLimit limits', (entry) => rateLimit({ limits: [entry] })],
  ['rateLimit storeClient', (storeClient) => rateLimit({ ...enough, storeClient } as never)],
  ['rateLimit key', (key) => rateLimit({ ...enough, key })],
  ['rateLimit skip', (skip) => rateLimit({ ...enough, skip })],
  ['createLimiter options', createLimiter],
  ['createLimiter key', (key) => createLimiter({ ...enough, key })],
  ['createLimiter store', (store) => createLimiter({ ...enough, store })],
  ['createLimiter secret', (secret) => createLimiter({ ...enough, secret })],
  ['createLimiter redis', (redis) => createLimiter({ ...enough, redis } as never)],
  ['loginGuard options', loginGuard],
  ['loginGuard store', (store) => loginGuard({ ...guard, store })],
  ['loginGuard secret', (secret) => loginGuard({ ...guard, secret })],
  ['loginGuard limits', (limits) => loginGuard({ ...guard, limits })],
  ['loginGuard deviceCookie', (deviceCookie) => loginGuard({ ...guard, deviceCookie })],
  ['loginGuard deviceCookie secret', (secret) => loginGuard({ ...guard, deviceCookie: { secret } })],
  ['overloadGuard options', overloadGuard],
  ['overloadGuard priority', (priority) => overloadGuard({ priority })],
  ['overloadGuard tenant', (tenant) => overloadGuard({ tenant })],
  ['overloadGuard weight', (weight) => overloadGuard({ tenant: () => 'a', weight })],
  ['overloadGuard routeClass', (routeClass) => overloadGuard({ routeClass })],
  ['overloadGuard key', (key) => overloadGuard({ key })],
  ['overloadGuard store', (store) => overloadGuard({ name: 'api', tenant: () => 'a', store })],
  ['tokenBucket options', tokenBucket],
  ['fixedWindow options', fixedWindow],
  ['quota options', quota],
  ['slidingLog options', slidingLog],
  ['slidingWindow options', slidingWindow],
  ['consecutive options', consecutive],
  ['concurrency options', concurrency],
  ['ban options', (given) => ban(policy, given)],
  ['byIp options', byIp],
  ['byUser get', byUser],
  ['byUser anonymous', (anonymous) => byUser(undefined, { anonymous })],
  ['byUser options', (given) => byUser(undefined, given)],
  ['byField options', (given) => byField('username', given)],
]

const named = { hunter2() {} }

/** Shapes in which a credential comes. */
const GIVEN: readonly (readonly [string, unknown, string | undefined])[] = [
  ['a short string', 'hunter2', 'a string'],
  ['a connection string', 'redis://admin:hunter2@10.0.0.1:6379', 'a string'],
  ['user:password@host', 'user:hunter2@host', 'a string'],
  ['a symbol', Symbol('hunter2'), 'a symbol'],
  ['a function', named.hunter2, 'a function'],
  ['an array', ['hunter2'], 'an array of 1'],
]

test.each(PLACES.flatMap(([place, make]) => GIVEN.map((given) => [place, ...given, make] as const)))(
  'an error of %s shows nothing of %s but its kind',
  (place, _shape, value, kind, make) => {
    // As a secret, a string is good when it is long enough.
    if (place.endsWith(' secret') && typeof value === 'string' && value.length >= 16) return
    // A function is right in some places, and any short name for a table.
    if (
      typeof value === 'function' &&
      /(key|skip|get|anonymous|send|namespace|priority|tenant|weight|routeClass)$/.test(place)
    )
      return
    if (value === 'hunter2' && place.endsWith(' table')) return
    if (typeof value === 'string' && place === 'upstashStore token') return // which has any form
    const error = errorOf(() => (make as (given: unknown) => unknown)(value))
    expect(error).toBeInstanceOf(TypeError)
    for (const text of [error.message, error.stack, String(error.cause)])
      expect(text).not.toContain('hunter2')
    const isArrayOfSecrets = place === 'loginGuard deviceCookie secret' && Array.isArray(value)
    const isLengthShown = isArrayOfSecrets || (place.endsWith(' secret') && typeof value === 'string')
    if (isLengthShown) expect(error.message).toContain('got a string of 7 characters')
    else if (!/storeClient|redis$/.test(place)) expect(error.message).toContain(`got ${kind}`)
  },
)

/** Options whose values may be shown, unless they look like a credential, and whose fix is made of them. */
const SHOWN: readonly (readonly [string, (given: never) => unknown])[] = [
  ...[
    ...['name', 'prefix', 'headers', 'onStoreError', 'window', 'limit', 'timeout', 'keyPrefix', 'nameSpace'],
    ...['identifier', 'groupId', 'tableName', 'schemaName', 'dbName', 'redis', 'ttl', 'windowMs', 'max'],
  ].map((option) => [option, (given: never) => rateLimit({ ...enough, [option]: given } as never)] as const),
  ['allow', (given) => rateLimit({ ...enough, allow: [given] })],
  ['the name of an option', (given) => rateLimit({ ...enough, [given]: 1 } as never)],
  ...['name', 'prefix', 'mode', 'statusCode', 'minLimit', 'maxLimit', 'maxWait', 'redis', 'timeout'].map(
    (option) =>
      [`overloadGuard ${option}`, (given: never) => overloadGuard({ [option]: given } as never)] as const,
  ),
  ['overloadGuard block', (given) => overloadGuard({ block: [given] })],
  ['byHeader', byHeader],
  ['byField missing', (missing) => byField('username', { missing })],
  ['key of several', (key) => rateLimit({ ...enough, key: [key] })],
  ['byIp trustProxy', (trustProxy) => byIp({ trustProxy })],
  [
    'candidateLimits window',
    (window) => rateLimit({ ...enough, candidate: core.candidateLimits({ limit: 5, window }) }),
  ],
  ['requestDelay by', (by) => rateLimit({ ...enough, delay: core.requestDelay({ after: 1, by }) })],
  ['responseCost', core.responseCost],
  ['waitFor limiter', (limiter) => headgate.waitFor(limiter, {} as never)],
  ['adjustments limiter', (limiter) => headgate.adjustments(limiter)],
]

test.each(
  SHOWN.flatMap(([place, make]) =>
    ['redis://admin:hunter2@10.0.0.1:6379', 'user:hunter2@host'].map(
      (given) => [place, given, make] as const,
    ),
  ),
)('an error of %s shows nothing of %s', (_place, given, make) => {
  const { message } = errorOf(() => (make as (given: unknown) => unknown)(given))
  expect(message).not.toMatch(/hunter2|admin|10\.0\.0\.1/)
})

/** Factories that are given nothing by which a credential could come. */
const WITHOUT = [
  'byRoute',
  'foldName',
  'identitiesOf',
  'logEvents',
  'OverloadError',
  'SettingsConflictError',
  'StoreError',
  'serveChild',
  'LimitsObject',
  'limitsObject',
]
/** Kinds of policies are values. */
const isKind = (name: string) => name.endsWith('Kind')

test('every factory has a row in the table', () => {
  const factories = Object.keys(headgate).filter((name) => !WITHOUT.includes(name) && !isKind(name))
  const covered = new Set([...PLACES, ...SHOWN].map(([place]) => place.split(' ')[0]))
  expect(factories.filter((name) => !covered.has(name))).toEqual([])
})

function errorOf(make: () => unknown): Error {
  try {
    make()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}
