import { createLimiter, foldName, identitiesOf, type KeyFunction, tokenBucket } from 'headgate'
import { byField, byHeader, byIp, byUser } from 'headgate/http'
import { spellingsOf } from '../../../src/keys/spellings.js'
import { chargeNow } from '../../support/charge-now.js'

const SECRET = 'a secret of 32 characters or more'
const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })

function storedIdentity(key: KeyFunction<unknown>, subject: unknown, secret?: string): string | undefined {
  const limiter = createLimiter<unknown>({ policy, key, ...(secret && { secret }) })
  return identitiesOf(chargeNow(limiter, subject, { cost: 0 }))[0]?.identity
}

const KEYS: readonly [what: string, key: KeyFunction<unknown>, subject: unknown, typed: string][] = [
  ['an IPv4 address', byIp(), { ip: '203.0.113.7' }, '203.0.113.7'],
  ['an IPv4 address in IPv6', byIp(), { ip: '203.0.113.7' }, '::ffff:203.0.113.7'],
  ['an IPv6 address', byIp(), { ip: '2001:db8:7::1' }, '2001:DB8:7:0::2'],
  ['a network of /64', byIp({ ipv6Prefix: 64 }), { ip: '2001:db8:7::1' }, '2001:db8:7::1'],
  ['a user', byUser(), { user: { id: 42 } }, '42'],
  ['one who is not signed in', byUser(), { ip: '203.0.113.7' }, '203.0.113.7'],
  [
    'one without a key',
    (req) => (req as { user?: { id: string } }).user?.id,
    { ip: '203.0.113.7' },
    '203.0.113.7',
  ],
  ['one of IPv6 without a key', () => null, { ip: '2001:db8:7::1' }, '2001:db8:7:0::2'],
  ['one without a header', byHeader('x-api-key'), { ip: '203.0.113.7', headers: {} }, '203.0.113.7'],
  ['a malformed field', byField('name'), { ip: '203.0.113.7', body: { name: [] } }, '203.0.113.7'],
  ['a field in another case', byField('name'), { body: { name: 'Ada ' } }, ' ADA'],
  ['a value of an own function', (id) => id, 'tenant 7', 'tenant 7'],
  ['blanks that belong to a value', (id) => id, ' tenant', ' tenant'],
]

test.each(KEYS)('finds what limits store of %s', (_what, key, subject, typed) => {
  expect(spellingsOf(typed, { secret: undefined })).toContain(storedIdentity(key, subject))
  expect(spellingsOf(typed, { secret: SECRET })).toContain(storedIdentity(key, subject, SECRET))
})

test('finds an identity as it is stored', () => {
  const stored = storedIdentity(byIp(), { ip: '2001:db8:7::1' }) as string
  expect(stored).toBe('2001:db8:7::/56')
  expect(spellingsOf(stored, { secret: undefined })[0]).toBe(stored)
  const hashed = storedIdentity((id) => id, foldName('ada')) as string
  expect(spellingsOf(hashed, { secret: undefined })[0]).toBe(hashed)
})

test('a name with invisible characters is not that of another', () => {
  const ada = storedIdentity((id) => id, 'ada')
  expect(spellingsOf('Ada', { secret: undefined })).toContain(ada)
  expect(spellingsOf('ada\u202e', { secret: undefined })).not.toContain(ada)
})

test('an IPv6 address stands for its networks of the prefixes that are given', () => {
  expect(spellingsOf('2001:db8:7::1', { secret: undefined })).toEqual(
    expect.arrayContaining(['2001:db8:7::/56', '2001:db8:7::/64']),
  )
  const only = spellingsOf('2001:db8:7::1', { secret: undefined }, [64])
  expect(only.filter((spelling) => spelling.includes('/'))).toEqual(['2001:db8:7::/64'])
})

test('under a secret, no address is in clear but what was typed', () => {
  expect(spellingsOf('::ffff:203.0.113.7', { secret: SECRET })).not.toContain('203.0.113.7')
})

test.each([[''], ['   '], ['a\0b'], ['\ud800'], ['x'.repeat(1025)]])('finds nothing for %j', (typed) => {
  expect(spellingsOf(typed, { secret: undefined })).toEqual([])
})
