import { byHeader, createLimiter } from 'headgate'
import { type Handler, NODE_HTTP } from '../../support/frameworks.js'
import { closeServers, send, serve } from '../../support/http.js'
import { identityOf } from './identities.js'
import { requestFrom } from './requests.js'

afterEach(closeServers)

test('a header is the key, whatever the case of its name', () => {
  const request = requestFrom('192.0.2.7', { 'x-api-key': 'Key-1' })
  for (const name of ['x-api-key', 'X-Api-Key', 'X-API-KEY']) expect(byHeader(name)(request)).toBe('Key-1')
})

test('the value is used unchanged', () => {
  const [first, second] = ['Key', 'key'].map((value) => requestFrom('192.0.2.7', { 'x-api-key': value }))
  expect(identityOf(byHeader('x-api-key'), first)).not.toBe(identityOf(byHeader('x-api-key'), second))
})

test.each<[string, unknown]>([
  ['no headers', {}],
  ['headers that are null', { headers: null }],
  ['another header', requestFrom('192.0.2.7', { authorization: 'x' })],
  ['a list of values', requestFrom('192.0.2.7', { 'x-api-key': ['a', 'b'] })],
])('with %s a request is malformed, and not unlimited', (_what, subject) => {
  expect(byHeader('x-api-key')(subject)).toBeNull()
})

test.each(['constructor', '__proto__', 'tostring', 'hasOwnProperty'])(
  'a header called %s is not found where no client sent one',
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

describe('on a Fetch request', () => {
  const fetched = (headers: Record<string, string>) => new Request('http://127.0.0.1/', { headers })

  test('each value of the header is a key of its own', () => {
    const key = byHeader('X-Api-Key')
    expect(['Key-1', 'Key-2'].map((value) => key(fetched({ 'x-api-key': value })))).toEqual([
      'Key-1',
      'Key-2',
    ])
  })

  test('a limiter charges each value to a bucket of its own', async () => {
    const limiter = createLimiter({ limit: 1, window: '1h', key: byHeader('x-api-key') })
    const sent = ['Key-1', 'Key-2', 'Key-1'].map((value) => limiter.charge(fetched({ 'x-api-key': value })))
    expect(await Promise.all(sent)).toMatchObject([{ allowed: true }, { allowed: true }, { allowed: false }])
  })

  test.each(['x-api-key', 'get', 'has', 'append', 'constructor'])(
    'a header called %s is not found where no client sent one',
    (name) => {
      expect(byHeader(name)(fetched({ authorization: 'x' }))).toBeNull()
    },
  )

  test.each(['get', 'has'])('a header called %s is found where a client sent one', (name) => {
    expect(byHeader(name)(fetched({ [name]: 'Key-1' }))).toBe('Key-1')
  })
})

test('a client of node:http that sends a header called get hides no other header', async () => {
  const answer: Handler = (req, res) => {
    res.end(JSON.stringify(['x-api-key', 'get', 'x-other'].map((name) => byHeader(name)(req))))
  }
  const served = await serve(NODE_HTTP.app(answer))
  const { text } = await send(served, { headers: { get: 'x-other', 'x-api-key': 'Key-1' } })
  expect(JSON.parse(text)).toEqual(['Key-1', 'x-other', null])
})

test('a list of values is malformed, also from a get method', () => {
  const headers = { get: () => ['a', 'b'] }
  expect(byHeader('x-api-key')({ headers })).toBeNull()
})

test.each([undefined, null, '', ' ', 'x api key', 'x-api-key:', 'x\nkey', 'schlüssel', ['x-api-key'], 7])(
  'byHeader(%p) throws an error with the fix',
  (name) => {
    expect(() => byHeader(name as string)).toThrow(TypeError)
    expect(() => byHeader(name as string)).toThrow("Did you mean byHeader('x-api-key')?")
  },
)
