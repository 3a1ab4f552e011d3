import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { byField, byHeader, byIp, byRoute, byUser, createLimiter, type KeyFunction } from 'headgate'
import { identityReader } from '../../../src/keys/identity.js'
import { NotRequestError } from '../../../src/keys/request.js'
import { markSkipping } from '../../../src/keys/skipping.js'
import { isKey, shownIdentity } from '../../../src/keys/value-identity.js'
import { recordWarnings } from '../../support/warnings.js'
import { identityOf, SECRET, sourceOf } from './identities.js'
import { requestFrom } from './requests.js'

const warnings = recordWarnings()

const giving = (value: unknown) => () => value
const request = requestFrom('192.0.2.7')
const joined = (...values: unknown[]) => identityOf(values.map(giving), request)

test('values join so that no other split gives the same identity', () => {
  const splits = [
    ['abc'],
    ['', 'abc'],
    ['a', 'bc'],
    ['ab', 'c'],
    ['abc', ''],
    ['a', 'b', 'c'],
    ['a|bc'],
    ['a', '|bc'],
  ]
  const identities = splits.map((values) => joined(...values))
  expect(new Set(identities).size).toBe(splits.length)
})

test('the order of keys changes the identity', () => {
  expect(joined('a', 'b')).not.toBe(joined('b', 'a'))
})

test.each([
  [1, '1'],
  [0, -0],
  [10n, '10'],
])('the values %p and %p give one identity', (one, other) => {
  expect(joined(one)).toBe(joined(other))
})

test('an identity is the first 22 characters of a SHA-256, or an HMAC-SHA-256 with a secret', () => {
  const plain = createHash('sha256').update('value:bob').digest('base64url')
  const keyed = createHmac('sha256', SECRET).update('value:bob').digest('base64url')
  expect(plain.startsWith(identityOf(giving('bob'), request) as string)).toBe(true)
  expect(keyed.startsWith(identityOf(giving('bob'), request, SECRET) as string)).toBe(true)
  expect(identityOf(giving('bob'), request)).toHaveLength(22)
})

test('another secret makes other identities', () => {
  const secrets = [undefined, SECRET, `${SECRET}!`]
  const identities = secrets.map((secret) => identityOf(giving('bob'), request, secret))
  expect(new Set(identities).size).toBe(3)
})

test('an address is readable without a secret, and hashed with one', () => {
  expect(identityOf(byIp(), request)).toBe('192.0.2.7')
  expect(identityOf([byIp(), giving('bob')], request)).toMatch(/^192\.0\.2\.7\|[\w-]{22}$/)
  expect(identityOf(byIp(), request, SECRET)).toMatch(/^[\w-]{22}$/)
  expect(identityOf([byIp(), giving('bob')], request, SECRET)).toMatch(/^[\w-]{22}\|[\w-]{22}$/)
})

test.each(['192.0.2.7', 'unknown', '2001:db8::/56'])(
  'a value that spells %s is not that address',
  (value) => {
    expect(joined(value)).not.toBe(value)
  },
)

const makers: [string, KeyFunction<unknown>][] = [
  ['byUser', byUser() as KeyFunction<unknown>],
  ['byField', byField('username')],
  ['byHeader', byHeader('x-api-key')],
  ['byRoute', byRoute()],
  ['a function', (subject) => (subject as { raw: string }).raw],
]

describe.each([undefined, SECRET])('with the secret %p', (secret) => {
  test.each(makers)(
    'what a client sends through %s is bounded, printable and not readable',
    (_maker, key) => {
      for (const raw of ['secretname', 'Secret Name 日本 🙂', 'secretname\n\t', 'secretname'.repeat(100)]) {
        const subject = {
          ...requestFrom('192.0.2.7', { 'x-api-key': raw }),
          body: { username: raw },
          user: { id: raw },
          baseUrl: raw,
          raw,
        }
        const identity = identityOf(key, subject, secret)
        expect(identity).toMatch(/^[\w-]{22}$/)
      }
    },
  )

  test('eight keys stay far below 250 bytes', () => {
    const keys = [byIp({ ipv6Prefix: 128 }), ...Array.from({ length: 7 }, () => giving('x'.repeat(1024)))]
    const subject = requestFrom('2001:db8:1234:5678:9abc:def0:1234:5678')
    const identity = identityOf(keys, subject, secret) as string
    expect(identity).toMatch(/^[\x21-\x7e]+$/)
    expect(identity.length).toBeLessThanOrEqual(8 * 44)
    expect(identity.length).toBeLessThan(210)
  })
})

test.each([
  ['undefined', undefined],
  ['null', null],
  ['an empty string', ''],
  ['true', true],
  ['false', false],
  ['NaN', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['an object', { id: 1 }],
  ['an array', ['a']],
  ['a symbol', Symbol('a')],
  ['a date', new Date(0)],
  ['a string of 1025 characters', 'x'.repeat(1025)],
  ['a NUL', 'a\0b'],
  ['a lone surrogate', '\ud800'],
])('%s is no key: such requests share a bucket per source address', (_what, value) => {
  const here = identityOf(giving(value), requestFrom('192.0.2.7'))
  const there = identityOf(giving(value), requestFrom('192.0.2.8'))
  expect(here).toBe(identityOf(giving(null), requestFrom('192.0.2.7')))
  expect(here).not.toBe(there)
  expect(here).toMatch(/^[\w-]{22}$/)
})

test('one key that skips a subject makes the identity undefined', async () => {
  const skipping = [markSkipping(giving(undefined)), markSkipping(async () => undefined)]
  for (const key of skipping) {
    const reader = identityReader([giving('a'), key], { readAddress: sourceOf, secret: undefined })
    expect(await reader(request)).toBeUndefined()
  }
})

test('a subject that is not a request needs a key, and its malformed keys share a bucket', () => {
  const fix =
    'the key function tenant returned undefined for a subject that is not a request. Return a string'
  const tenant = ({ tenant }: { tenant?: string }) => tenant
  expect(() => identityOf(tenant as never, { job: 1 })).toThrow(NotRequestError)
  expect(() => identityOf(tenant as never, { job: 1 })).toThrow(fix)
  expect(() => identityOf([giving('a'), tenant as never], 'job')).toThrow(fix)
  const nothing = giving(null)
  expect(() => identityOf(nothing, 'job')).toThrow(NotRequestError)
  expect(() => identityOf(nothing, { job: 1 })).toThrow(
    'returned null for a subject that is not a request. Return a',
  )
  const malformed = ['', 'a\0b', '\ud800', 'x'.repeat(1025), ['a'], {}, true, Number.NaN]
  const subjects = ['job', 7, {}, null, undefined]
  const identities = subjects.flatMap((subject) =>
    malformed.map((value) => identityOf(giving(value), subject)),
  )
  expect(new Set(identities).size).toBe(1)
})

test('async keys give the identity that synchronous ones would', async () => {
  const reader = identityReader([byIp(), async () => 'a'], {
    readAddress: sourceOf,
    secret: undefined,
  })
  const identity = reader(request)
  expect(identity).toBeInstanceOf(Promise)
  expect(await identity).toBe(identityOf([byIp(), giving('a')], request))
})

test('a key function that fails is not swallowed', async () => {
  const fails = () => {
    throw new Error('no session')
  }
  expect(() => identityOf(fails, request)).toThrow('no session')
  const later = identityReader([giving('a'), async () => fails()], {
    readAddress: sourceOf,
    secret: undefined,
  })
  await expect(later(request)).rejects.toThrow('no session')
})

test('an object as a key emits a warning once, and values that clients can send emit none', () => {
  for (const value of [null, ['a'], true, 'x'.repeat(2048), Number.NaN]) identityOf(giving(value), request)
  expect(warnings()).toEqual([])
  for (let i = 0; i < 3; i++) identityOf(giving({ id: 1 }), request)
  expect(warnings()).toEqual(['HEADGATE_OBJECT_AS_KEY'])
})

test('one key function in limiters of different secrets gives each of them an identity of its own', () => {
  const key = giving('bob')
  const secrets = [undefined, SECRET, `${SECRET}!`, SECRET, undefined]
  const identities = secrets.map((secret) => identityOf(key, request, secret))
  expect(identities).toEqual(secrets.map((secret) => identityOf(giving('bob'), request, secret)))
  expect(new Set(identities).size).toBe(3)
})

test('an array of eight key functions is accepted, nine are refused', async () => {
  const limiterOf = (count: number) =>
    createLimiter({ limit: 1, window: '1h', key: Array.from({ length: count }, () => giving('bob')) })
  expect(await limiterOf(8).charge(request)).toMatchObject({ allowed: true })
  expect(() => limiterOf(9)).toThrow(
    'createLimiter: key must be a function, or an array of 1 to 8 functions, got an array of 9.',
  )
})

/** What key functions return, with what separates identities, and what looks like one. */
const keyValue = fc
  .oneof(fc.string(), fc.string({ unit: fc.constantFrom('|', '=', ':', '1', 'a') }), fc.integer(), fc.ipV6())
  .filter((value) => isKey(value) && value !== '')

describe('identities that stay in this process', () => {
  const local = { readAddress: sourceOf, secret: undefined, isLocal: true }
  const identityOf = (...values: unknown[]) =>
    identityReader(
      values.map((value) => () => value),
      local,
    )({}) as string
  const remoteOf = (...values: unknown[]) =>
    identityReader(
      values.map((value) => () => value),
      { ...local, isLocal: false },
    )({})

  test('are written out, and differ wherever the values do', () => {
    fc.assert(
      fc.property(fc.array(keyValue, { minLength: 1 }), fc.array(keyValue, { minLength: 1 }), (a, b) => {
        const isSame = JSON.stringify(a.map(String)) === JSON.stringify(b.map(String))
        expect(identityOf(...a) === identityOf(...b)).toBe(isSame)
      }),
    )
    expect(identityOf('a|=b')).not.toBe(identityOf('a', 'b'))
    expect(identityOf('192.0.2.1')).not.toBe(identityReader([byIp()], local)({ ip: '192.0.2.1' }))
  })

  test('are shown as stores outside of it keep them', () => {
    fc.assert(
      fc.property(fc.array(keyValue, { minLength: 1 }), (values) => {
        expect(shownIdentity(identityOf(...values))).toBe(remoteOf(...values))
      }),
    )
    for (const identity of ['192.0.2.1', '2001:db8::/56', '', 'a|b', remoteOf('ada', 'bob') as string])
      expect(shownIdentity(identity)).toBe(identity)
  })

  test('are as short as elsewhere where a client sends a long value', () => {
    for (const value of ['x'.repeat(65), '\u6f22'.repeat(1024), 10n ** 100n])
      expect(identityOf(value)).toBe(remoteOf(value))
    expect(identityOf('x'.repeat(64))).toBe(`=${'x'.repeat(64)}`)
  })

  test('are hashed under a secret', () => {
    const secret = 'a secret of 16 characters'
    const keys = [() => 'ada']
    const options = { readAddress: sourceOf, secret }
    expect(identityReader(keys, { ...options, isLocal: true })({})).toBe(identityReader(keys, options)({}))
  })
})
