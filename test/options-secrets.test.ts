import * as headgate from 'headgate'
import { createPool } from 'mysql2'
import { Pool } from 'pg'

const {
  ban,
  byField,
  byIp,
  byUser,
  consecutive,
  createLimiter,
  fixedWindow,
  loginGuard,
  memcachedStore,
  memoryStore,
  mysqlStore,
  postgresStore,
  rateLimit,
  redisStore,
  slidingWindow,
  tokenBucket,
} = headgate

const enough = { limit: 5, window: '1m' }
const guard = { field: 'username' }
const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
const mysqlPool = createPool('mysql://nobody@127.0.0.1:1/nowhere')
const postgresPool = new Pool()

/** Each place where a credential is given by mistake, of every factory: what makes it. */
const PLACES: readonly (readonly [string, (given: never) => unknown])[] = [
  ['redisStore client', redisStore],
  ['memcachedStore client', memcachedStore],
  ['mysqlStore pool', mysqlStore],
  ['mysqlStore options', (given) => mysqlStore(mysqlPool, given)],
  ['postgresStore pool', postgresStore],
  ['postgresStore options', (given) => postgresStore(postgresPool, given)],
  ['memoryStore options', memoryStore],
  ['rateLimit options', rateLimit],
  ['rateLimit store', (store) => rateLimit({ ...enough, store })],
  ['rateLimit secret', (secret) => rateLimit({ ...enough, secret })],
  ['rateLimit lease', (lease) => rateLimit({ ...enough, lease })],
  ['rateLimit limits', (entry) => rateLimit({ limits: [entry] })],
  ['rateLimit storeClient', (storeClient) => rateLimit({ ...enough, storeClient } as never)],
  ['createLimiter options', createLimiter],
  ['createLimiter store', (store) => createLimiter({ ...enough, store })],
  ['createLimiter secret', (secret) => createLimiter({ ...enough, secret })],
  ['createLimiter redis', (redis) => createLimiter({ ...enough, redis } as never)],
  ['loginGuard options', loginGuard],
  ['loginGuard store', (store) => loginGuard({ ...guard, store })],
  ['loginGuard secret', (secret) => loginGuard({ ...guard, secret })],
  ['loginGuard limits', (limits) => loginGuard({ ...guard, limits })],
  ['loginGuard deviceCookie', (deviceCookie) => loginGuard({ ...guard, deviceCookie })],
  ['loginGuard deviceCookie secret', (secret) => loginGuard({ ...guard, deviceCookie: { secret } })],
  ['tokenBucket options', tokenBucket],
  ['fixedWindow options', fixedWindow],
  ['slidingWindow options', slidingWindow],
  ['consecutive options', consecutive],
  ['ban options', (given) => ban(policy, given)],
  ['byIp options', byIp],
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
  '%s: an error shows nothing of %s but its kind',
  (place, _shape, value, kind, make) => {
    // As a secret, a string is good when it is long enough.
    if (place.endsWith(' secret') && typeof value === 'string' && value.length >= 16) return
    const error = errorOf(() => (make as (given: unknown) => unknown)(value))
    expect(error).toBeInstanceOf(TypeError)
    for (const text of [error.message, error.stack, String(error.cause)])
      expect(text).not.toContain('hunter2')
    const isArrayOfSecrets = place === 'loginGuard deviceCookie secret' && Array.isArray(value)
    const isLengthShown = isArrayOfSecrets || (place.endsWith(' secret') && typeof value === 'string')
    if (isLengthShown) expect(error.message).toContain('got one of 7')
    else if (!/storeClient|redis$/.test(place)) expect(error.message).toContain(`got ${kind}`)
  },
)

test('every factory has a row in the table', () => {
  const factories = Object.keys(headgate).filter(
    (name) => !/Schema$|^StoreError$|^byRoute$|^byHeader$|^foldName$/.test(name),
  )
  const covered = new Set(PLACES.map(([place]) => place.split(' ')[0]))
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
