import { isIP } from 'node:net'
import express from 'express'
import fc from 'fast-check'
import { byIp } from 'headgate'
import { closeServers, send, serve } from '../../support/http.js'
import { recordWarnings } from '../../support/warnings.js'
import { requestFrom } from './requests.js'

const warnings = recordWarnings()
afterEach(closeServers)

const PROXIES = ['loopback', '10.0.0.0/8', '2001:db8:ffff::/48']

/** Who a request from `socket` with this `X-Forwarded-For` is, with the proxies above trusted. */
function clientOf(socket: string | undefined, forwardedFor?: unknown): unknown {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
  return byIp({ trustProxy: PROXIES })(requestFrom(socket, headers))
}

test.each<[string, string, string | undefined, string]>([
  ['no header', '127.0.0.1', undefined, '127.0.0.1'],
  ['one hop', '127.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['one hop from a mapped proxy', '::ffff:10.1.2.3', '203.0.113.7', '203.0.113.7'],
  ['one hop from an IPv6 proxy', '2001:db8:ffff::1', '203.0.113.7', '203.0.113.7'],
  ['two trusted hops', '127.0.0.1', '203.0.113.7, 10.0.0.2', '203.0.113.7'],
  ['no blanks', '127.0.0.1', '203.0.113.7,10.0.0.2', '203.0.113.7'],
  ['what the client wrote on the left', '127.0.0.1', '1.1.1.1, 203.0.113.7', '203.0.113.7'],
  ['a chain of forged entries', '127.0.0.1', '1.1.1.1, 2.2.2.2, 127.0.0.1, 203.0.113.7', '203.0.113.7'],
  ['forged text on the left', '127.0.0.1', 'unknown, <script>, 203.0.113.7', '203.0.113.7'],
  ['a trusted entry behind an untrusted one', '127.0.0.1', '10.0.0.9, 203.0.113.7, 10.0.0.2', '203.0.113.7'],
  ['an untrusted peer', '198.51.100.1', '203.0.113.7', '198.51.100.1'],
  ['an untrusted peer that forges a trusted chain', '198.51.100.1', '203.0.113.7, 10.0.0.2', '198.51.100.1'],
  ['only proxies', '127.0.0.1', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
  ['IPv6', '127.0.0.1', '2001:db8:1234:5678::1', '2001:db8:1234:5600::/56'],
  ['IPv6 in brackets with a port', '127.0.0.1', '[2001:db8:1234:5678::1]:443', '2001:db8:1234:5600::/56'],
  ['a mapped address', '127.0.0.1', '::ffff:203.0.113.7', '203.0.113.7'],
  ['a port', '127.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
  ['an empty header', '127.0.0.1', '', '127.0.0.1'],
  ['only commas', '127.0.0.1', ', ,,', '127.0.0.1'],
  ['"unknown" as the last entry', '127.0.0.1', '203.0.113.7, unknown', '127.0.0.1'],
  ['an obfuscated last entry', '127.0.0.1', '203.0.113.7, _proxy', '127.0.0.1'],
  ['an octal last entry', '127.0.0.1', '0177.0.0.1', '127.0.0.1'],
  ['a range as the last entry', '127.0.0.1', '0.0.0.0/0', '127.0.0.1'],
  ['NUL bytes', '127.0.0.1', '203.0.113.7\0', '127.0.0.1'],
  ['100 KB of commas', '127.0.0.1', ','.repeat(100_000), '127.0.0.1'],
  ['100 KB of text', '127.0.0.1', 'x'.repeat(100_000), '127.0.0.1'],
  ['thousands of forged entries', '127.0.0.1', `${'1.1.1.1, '.repeat(10_000)}203.0.113.7`, '203.0.113.7'],
])(
  'behind trusted proxies, with %s, a request is its nearest untrusted address',
  (_what, socket, chain, who) => {
    expect(clientOf(socket, chain)).toBe(who)
    expect(warnings()).toEqual([])
  },
)

test.each([
  ['a Unix socket', undefined],
  ['a socket whose address is empty', ''],
])('a forwarded address over %s is not believed', (_what, socket) => {
  expect(clientOf(socket, '203.0.113.7')).toBe('unknown')
  expect(warnings()).toEqual(['HEADGATE_NO_ADDRESS'])
})

test.each([['203.0.113.7'], [['203.0.113.7', '203.0.113.8']], [7], [{}]])(
  'a header that is no text (%j) throws nothing',
  (value) => {
    const who = clientOf('127.0.0.1', value)
    expect(who).toBe(value === '203.0.113.7' ? value : '127.0.0.1')
  },
)

test.each<[string, number, unknown, string]>([
  ['one hop', 1, '203.0.113.7', '203.0.113.7'],
  ['one hop, and what the client wrote on the left', 1, '1.1.1.1, 203.0.113.7', '203.0.113.7'],
  ['one hop, in any spelling', 1, '[::ffff:203.0.113.7]:4711', '203.0.113.7'],
  ['two hops', 2, '203.0.113.7, 198.51.100.1', '203.0.113.7'],
  ['two hops, and what the client wrote on the left', 2, '1.1.1.1, 203.0.113.7, 198.51.100.1', '203.0.113.7'],
  ['two hops and one entry', 2, '203.0.113.7', '203.0.113.7'],
  ['one hop and no header', 1, undefined, '198.51.100.9'],
  ['one hop and an empty header', 1, '', '198.51.100.9'],
  ['one hop and garbage', 1, '203.0.113.7, garbage', '198.51.100.9'],
  ['one hop and a header that is no text', 1, ['203.0.113.7'], '198.51.100.9'],
])(
  'with trustProxy as a number, and %s, a request is the address so many entries from the right',
  (_what, hops, chain, who) => {
    const headers = chain === undefined ? {} : { 'x-forwarded-for': chain }
    expect(byIp({ trustProxy: hops })(requestFrom('198.51.100.9', headers))).toBe(who)
    expect(warnings()).toEqual([])
  },
)

test.each([1, 2, 3])('trustProxy: %d reads what Express reads by that number', async (hops) => {
  const app = express().set('trust proxy', hops)
  app.use((req, res) => {
    res.json([req.ip, byIp({ trustProxy: hops })(req)])
  })
  const served = await serve(app)
  for (const chain of ['203.0.113.1', '203.0.113.1, 203.0.113.2', '203.0.113.1,203.0.113.2, 203.0.113.3']) {
    const { text } = await send(served, { headers: { 'x-forwarded-for': chain } })
    const [ip, identity] = JSON.parse(text)
    expect(identity).toBe(ip)
  }
})

test('with trustProxy as a number, a proxy on a Unix socket counts as one', () => {
  const headers = { 'x-forwarded-for': '1.1.1.1, 203.0.113.7' }
  expect(byIp({ trustProxy: 1 })(requestFrom(undefined, headers))).toBe('203.0.113.7')
})

test('a forwarded address is also read from the Headers of the Fetch standard', () => {
  const headers = new Headers({ 'x-forwarded-for': '203.0.113.7, 10.0.0.2' })
  expect(byIp({ trustProxy: PROXIES })(requestFrom('127.0.0.1', headers))).toBe('203.0.113.7')
})

test.each(['loopback', 'loopback, 10.0.0.0/8', ['127.0.0.1'], ['loopback', 'uniquelocal']])(
  'trustProxy: %j trusts the loopback address',
  (trustProxy) => {
    const request = requestFrom('127.0.0.1', { 'x-forwarded-for': '203.0.113.7' })
    expect(byIp({ trustProxy })(request)).toBe('203.0.113.7')
  },
)

test('trustProxy reads what Express reads by the same number or ranges', () => {
  const address = fc.constantFrom(
    ...[
      '127.0.0.1',
      '10.1.2.3',
      '192.168.7.7',
      '203.0.113.7',
      '::1',
      '::ffff:10.1.2.3',
      'fe80::1',
      'fc00::1',
    ],
    ...['2001:db8::1', '169.254.1.1', '172.16.0.1', '172.32.0.1', 'unknown', '1.2.3', ''],
  )
  const range = fc.constantFrom(
    ...['loopback', 'linklocal', 'uniquelocal', '10.0.0.0/8', '203.0.113.7', '2001:db8::/32', '::1/128'],
  )
  const comma = fc.constantFrom(',', ', ', ' , ', ',,', ', ,  ,', '  ,', ' ')
  const chain = fc.array(fc.tuple(address, comma), { maxLength: 8 })
  const trust = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.array(range, { maxLength: 3 }))
  fc.assert(
    fc.property(address, chain, trust, (peer, hops, trustProxy) => {
      const headers = { 'x-forwarded-for': hops.flat().join('') }
      const request = requestFrom(peer || undefined, headers)
      const app = express().set('trust proxy', trustProxy)
      const inExpress = Object.assign(Object.create(express.request), { ...request, app })
      const { ip = '' } = inExpress
      const expected = isIP(ip) ? ip : peer || undefined // of text that is no address, byIp takes the peer
      expect(byIp({ trustProxy })(request)).toBe(byIp()(requestFrom(expected, {})))
    }),
    { numRuns: 2000 },
  )
})

test('a chain of trusted proxies is read to its 64th entry, whatever a proxy lets through', () => {
  const read = (proxies: number) =>
    byIp({ trustProxy: 'loopback' })(
      requestFrom('127.0.0.1', { 'x-forwarded-for': `203.0.113.7${', 127.0.0.1'.repeat(proxies)}` }),
    )
  expect([read(63), read(64), read(10_000)]).toEqual(['203.0.113.7', '127.0.0.1', '127.0.0.1'])
})

test('trustProxy: [] trusts no proxy', () => {
  const request = requestFrom('127.0.0.1', { 'x-forwarded-for': '203.0.113.7' })
  expect(byIp({ trustProxy: [] })(request)).toBe('127.0.0.1')
})

test.each<[string, object, string[]]>([
  ['names another client', { 'x-forwarded-for': '203.0.113.7' }, ['HEADGATE_UNTRUSTED_PROXY']],
  ['in Forwarded names another client', { forwarded: 'for=203.0.113.7' }, ['HEADGATE_UNTRUSTED_PROXY']],
  ['names that address too', { 'x-forwarded-for': '1.1.1.1, 10.0.0.5' }, []],
  ['is missing', {}, []],
])('where a framework reports an address, a warning is emitted if the chain %s', (_what, headers, codes) => {
  const key = byIp()
  expect(key({ ip: '::ffff:10.0.0.5', headers })).toBe('10.0.0.5')
  expect(warnings()).toEqual(codes)
})

test.each<[unknown, string]>([
  ['everybody', '"everybody"'],
  ['', '""'],
  ['10.0.0.0/33', '"10.0.0.0/33"'],
  ['0.0.0.0/0', '"0.0.0.0/0"'],
  ['0.0.0.0/00', '"0.0.0.0/00"'],
  ['::/000', '"::/000"'],
  ['::ffff:0:0/96', '"::ffff:0:0/96"'],
  [['0.0.0.0/1', '128.0.0.0/1'], 'an array of 2'],
  ['127.0.0.0/255.0.0.0', '"127.0.0.0/255.0.0.0"'],
  ['loopback;10.0.0.0/8', '"loopback;10.0.0.0/8"'],
  [['loopback', ''], 'an array of 2'],
  [['10.0.0.256'], 'an array of 1'],
  [[7], 'an array of 1'],
  [['1'], 'an array of 1'],
  [null, 'null'],
  [{}, 'an object'],
  [false, 'false'],
  [true, 'true'],
  ['1', '"1"'],
  ['12', '"12"'],
  [0, '0'],
  [-1, '-1'],
  [1.5, '1.5'],
  [Number.NaN, 'NaN'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
])('trustProxy: %j is an error that says what to write', (trustProxy, shown) => {
  const make = () => byIp({ trustProxy: trustProxy as string })
  expect(make).toThrow(TypeError)
  expect(make).toThrow(
    `byIp: trustProxy must be the number of proxies (at least 1), or their IP addresses and CIDR ranges, got ${shown}. ` +
      "Write trustProxy: 1 or trustProxy: ['loopback', '10.0.0.0/8'], or leave it out to trust no proxy.",
  )
})
