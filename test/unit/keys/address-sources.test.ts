import { byField, byIp, byUser, rateLimit, tokenBucket } from 'headgate'
import { FRAMEWORKS, type Framework, type Handler, sayHello } from '../../support/frameworks.js'
import { closeServers, type Sent, serve, statuses } from '../../support/http.js'
import { recordWarnings } from '../../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)

const CONNECT = FRAMEWORKS.find(({ name }) => name === 'Connect') as Framework
const EXPRESSES = FRAMEWORKS.filter(({ name }) => name.startsWith('Express'))
const forwarded = (client: string): Sent => ({ headers: { 'x-forwarded-for': client } })
const byForwarded = byIp({ trustProxy: ['loopback'] })
const once = tokenBucket({ capacity: 1, refill: 1, every: '1h' })

/** Keys behind which the address is read through a trusted proxy. */
const SOURCES = [
  ['byIp', byForwarded],
  ['byUser', byUser(undefined, { anonymous: byForwarded })],
  ['byUser of a function', byUser(() => undefined, { anonymous: byForwarded })],
  ['byUser in byUser', byUser(undefined, { anonymous: byUser(() => undefined, { anonymous: byForwarded }) })],
  ['an array', [() => 'everybody', byUser(undefined, { anonymous: byForwarded })]],
] as const

describe.each(SOURCES)('with %s on Connect', (_name, key) => {
  test('block matches the forwarded address', async () => {
    const limiter = rateLimit({ limit: 9, window: '1h', key, block: ['203.0.113.7'] })
    const served = await serve(CONNECT.app(limiter, sayHello))
    const clients = ['203.0.113.7', '203.0.113.8', '203.0.113.7, 127.0.0.1', '203.0.113.7, 203.0.113.8']
    expect(await statuses(served, clients.map(forwarded))).toEqual([403, 200, 403, 200])
  })

  test('block ignores the proxy’s own address', async () => {
    const limiter = rateLimit({ limit: 9, window: '1h', key, block: ['127.0.0.1'] })
    const served = await serve(CONNECT.app(limiter, sayHello))
    expect(await statuses(served, [forwarded('203.0.113.7'), {}])).toEqual([200, 403])
  })

  test('allow matches the forwarded address', async () => {
    const limiter = rateLimit({ policy: once, key, allow: ['203.0.113.7'] })
    const served = await serve(CONNECT.app(limiter, sayHello))
    const clients = ['203.0.113.7', '203.0.113.7', '203.0.113.8', '203.0.113.8']
    expect(await statuses(served, clients.map(forwarded))).toEqual([200, 200, 200, 429])
  })
})

describe('malformed names of two forwarded clients do not share a bucket on Connect', () => {
  const malformedBody: Handler = (req, _res, next) => {
    Object.assign(req, { body: { username: ['ada'] } })
    next()
  }
  const ip = { name: 'ip', policy: tokenBucket({ capacity: 9, refill: 9, every: '1h' }), key: byForwarded }
  const account = { name: 'account', policy: once, key: byField('username') }

  test.each([
    ['the address first', { limits: [ip, account] }],
    ['the account first', { limits: [account, ip] }],
    [
      'the address behind a user',
      { limits: [{ ...ip, key: byUser(undefined, { anonymous: byForwarded }) }, account] },
    ],
    ['both in one key', { policy: once, key: [byField('username'), byForwarded] }],
  ])('with %s', async (_order, options) => {
    const served = await serve(CONNECT.app(malformedBody, rateLimit(options), sayHello))
    const clients = ['203.0.113.7', '203.0.113.7', '203.0.113.8', '203.0.113.8']
    expect(await statuses(served, clients.map(forwarded))).toEqual([200, 429, 200, 429])
  })
})

const GARBAGE = ['garbage', 'unknown', '1.2.3', '1.2.3.4/8', '::1::2', '<script>', '203.0.113.7, garbage']

describe('for a malformed forwarded address', () => {
  test.each(EXPRESSES)("block sees the socket’s address on $name with 'trust proxy' 1", async ({ app }) => {
    const limiter = rateLimit({ limit: 9, window: '1h', block: ['127.0.0.0/8'] })
    const trusting = app(limiter, sayHello) as unknown as { set(name: string, value: unknown): void }
    trusting.set('trust proxy', 1)
    const served = await serve(trusting as unknown as Parameters<typeof serve>[0])
    expect(await statuses(served, GARBAGE.map(forwarded))).toEqual(GARBAGE.map(() => 403))
    expect(await statuses(served, [forwarded('203.0.113.7')])).toEqual([200])
  })

  test('block sees the socket’s address on Connect with trustProxy', async () => {
    const limiter = rateLimit({ limit: 9, window: '1h', key: byForwarded, block: ['127.0.0.0/8'] })
    const served = await serve(CONNECT.app(limiter, sayHello))
    expect(await statuses(served, GARBAGE.map(forwarded))).toEqual(GARBAGE.map(() => 403))
    expect(await statuses(served, [forwarded('203.0.113.7')])).toEqual([200])
  })

  test('allow sees the socket’s address on Connect with trustProxy', async () => {
    const limiter = rateLimit({ policy: once, key: byForwarded, allow: ['127.0.0.1'] })
    const served = await serve(CONNECT.app(limiter, sayHello))
    expect(await statuses(served, GARBAGE.map(forwarded))).toEqual(GARBAGE.map(() => 200))
    expect(await statuses(served, Array(2).fill(forwarded('203.0.113.7')))).toEqual([200, 429])
  })
})

test.each([
  { headers: {}, socket: {} },
  { socket: { remoteAddress: '' } },
  { socket: { remoteAddress: undefined } },
  { headers: {}, socket: null },
])('a request whose address is unknown, such as %j, has the identity "unknown"', (subject) => {
  expect(byIp()(subject)).toBe('unknown')
  expect(warnings()).toEqual(['HEADGATE_NO_ADDRESS'])
})
