import { byHeader } from 'headgate'
import { identityOf } from './identities.js'
import { requestFrom } from './requests.js'

test('a header is the key, whatever the case of its name', () => {
  const request = requestFrom('192.0.2.7', { 'x-api-key': 'Key-1' })
  for (const name of ['x-api-key', 'X-Api-Key', 'X-API-KEY']) expect(byHeader(name)(request)).toBe('Key-1')
})

test('the value is taken as it is', () => {
  const [first, second] = ['Key', 'key'].map((value) => requestFrom('192.0.2.7', { 'x-api-key': value }))
  expect(identityOf(byHeader('x-api-key'), first)).not.toBe(identityOf(byHeader('x-api-key'), second))
})

test.each<[string, unknown]>([
  ['no headers', {}],
  ['headers that are null', { headers: null }],
  ['another header', requestFrom('192.0.2.7', { authorization: 'x' })],
  ['a list of values', requestFrom('192.0.2.7', { 'x-api-key': ['a', 'b'] })],
  ['no request at all', undefined],
])('with %s a request is malformed, and not unlimited', (_what, subject) => {
  expect(byHeader('x-api-key')(subject)).toBeNull()
})

test.each(['constructor', '__proto__', 'tostring', 'hasOwnProperty'])(
  'a header called %s is not found where nobody sent one',
  (name) => {
    expect(byHeader(name)(requestFrom('192.0.2.7'))).toBeNull()
  },
)

test('a request without the header is limited by its address', () => {
  const key = byHeader('x-api-key')
  const identities = ['192.0.2.7', '192.0.2.7', '192.0.2.8'].map((ip) => identityOf(key, requestFrom(ip)))
  expect(identities[0]).toBe(identities[1])
  expect(identities[0]).not.toBe(identities[2])
})

test.each([undefined, null, '', ' ', 'x api key', 'x-api-key:', 'x\nkey', 'schlüssel', ['x-api-key'], 7])(
  'byHeader(%p) says what to write instead',
  (name) => {
    expect(() => byHeader(name as string)).toThrow(TypeError)
    expect(() => byHeader(name as string)).toThrow("Did you mean byHeader('x-api-key')?")
  },
)
