import { byUser } from 'headgate'
import { identityOf } from './identities.js'
import { requestFrom } from './requests.js'

const signedIn = (user: unknown) => ({ ...requestFrom('192.0.2.7'), user })

test.each<[unknown, string]>([
  [{ id: 'u-1', sub: 'sub', username: 'bob' }, 'user:u-1'],
  [{ sub: 'auth0|1', username: 'bob' }, 'user:auth0|1'],
  [{ username: 'bob' }, 'user:bob'],
  [{ id: null, username: 'bob' }, 'user:bob'],
  [{ id: 7 }, 'user:7'],
  [{ id: 0, username: 'bob' }, 'user:0'],
  [{ id: 7n }, 'user:7'],
  [{ id: '__proto__' }, 'user:__proto__'],
])('a request of user %p is %s', (user, key) => {
  expect(byUser()(signedIn(user) as never)).toBe(key)
})

test.each<[string, unknown]>([
  ['no user', undefined],
  ['a user that is null', null],
])('a request with %s is anonymous, by its address', (_what, user) => {
  expect(byUser()(signedIn(user) as never)).toBe('anonymous:192.0.2.7')
})

test.each<[string, unknown]>([
  ['no name at all', {}],
  ['an object as its id', { id: { toString: () => 'admin' } }],
  ['an array as its id', { id: ['admin'] }],
  ['true as its id', { id: true }],
  ['false as its id', { id: false, username: 'bob' }],
  ['NaN as its id', { id: Number.NaN }],
  ['infinity as its id', { id: Number.POSITIVE_INFINITY }],
])('a user with %s has no key, and is not anonymous', (_what, user) => {
  const key = byUser()(signedIn(user) as never)
  expect(typeof key).not.toBe('string')
  expect(key).not.toBeUndefined()
})

test('the function get returns the user', () => {
  const key = byUser((request: { session: string }) => request.session)
  expect(key({ session: 's-1' })).toBe('user:s-1')
})

test.each([undefined, null, ''])('a request for which get returns %p is anonymous', (nobody) => {
  expect(byUser(() => nobody)(requestFrom('192.0.2.7') as never)).toBe('anonymous:192.0.2.7')
})

test('the function get may be async', async () => {
  expect(await byUser(async () => 'u-1')({} as never)).toBe('user:u-1')
  const anonymous = byUser(async () => undefined)(requestFrom('192.0.2.7') as never)
  expect(await anonymous).toBe('anonymous:192.0.2.7')
})

test('an error in get is not swallowed', async () => {
  const fails = () => {
    throw new Error('no session store')
  }
  expect(() => byUser(fails)({} as never)).toThrow('no session store')
  await expect(byUser(async () => fails())({} as never)).rejects.toThrow('no session store')
})

test('the function anonymous returns the key of a request without a user', async () => {
  const key = byUser<{ user?: unknown; device: unknown }>(undefined, { anonymous: ({ device }) => device })
  expect(key({ device: 'd-1' })).toBe('anonymous:d-1')
  expect(key({ device: 'd-1', user: { id: 'u-1' } })).toBe('user:u-1')
  expect(await key({ device: Promise.resolve('d-1') })).toBe('anonymous:d-1')
})

test('if a function anonymous returns undefined, anonymous clients are limited by address', () => {
  const key = byUser(undefined, { anonymous: () => undefined })
  const of = (address: string) => identityOf(key as never, requestFrom(address))
  expect(of('192.0.2.7')).toBe(identityOf(() => null, requestFrom('192.0.2.7')))
  expect(of('192.0.2.7')).not.toBe(of('192.0.2.8'))
})

test('a user whose name spells an address or a mark is not that anonymous client', () => {
  const key = byUser()
  const anonymous = key(signedIn(undefined) as never)
  const users = ['192.0.2.7', 'anonymous:192.0.2.7'].map((id) => key(signedIn({ id }) as never))
  expect(new Set([anonymous, ...users]).size).toBe(3)
})

test.each<[unknown, unknown, string]>([
  ['id', undefined, 'byUser: get must be a function, got a string.'],
  [null, undefined, 'byUser: get must be a function, got null.'],
  [{ anonymous: () => 'x' }, undefined, 'byUser: get must be a function, got an object.'],
  [undefined, null, 'byUser: options must be an object, got null.'],
  [undefined, { anonymous: 'ip' }, 'byUser: anonymous must be a function, got a string.'],
  [undefined, { anonymus: () => 'x' }, 'byUser: there is no option "anonymus". Did you mean anonymous?'],
])('byUser(%p, %p) throws an error with the fix', (get, options, message) => {
  expect(() => byUser(get as () => unknown, options as object)).toThrow(TypeError)
  expect(() => byUser(get as () => unknown, options as object)).toThrow(message)
})
