import { byIp } from 'headgate'
import { recordWarnings } from '../../support/warnings.js'
import { expressRequest, requestFrom } from './requests.js'

const warnings = recordWarnings()

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['0:0:0:0:0:FFFF:C000:0207', '192.0.2.7'],
  ['64:ff9b::192.0.2.7', '192.0.2.7'],
  ['2001:DB8:1234:5678::1', '2001:db8:1234:5600::/56'],
  ['2001:db8:1234:5678::1.2.3.4', '2001:db8:1234:5600::/56'],
  ['fe80::1%eth0', 'fe80::/56'],
])('a socket of %s is %s', (remoteAddress, identity) => {
  expect(byIp()(requestFrom(remoteAddress))).toBe(identity)
  expect(warnings()).toEqual([])
})

test('mapped addresses of different clients stay apart, whatever the prefix', () => {
  for (const ipv6Prefix of [1, 48, 56, 64, 96, 128]) {
    const key = byIp({ ipv6Prefix })
    const identities = ['::ffff:1.2.3.4', '::ffff:1.2.3.5', '::ffff:102:306'].map((ip) =>
      key(requestFrom(ip)),
    )
    expect(identities).toEqual(['1.2.3.4', '1.2.3.5', '1.2.3.6'])
  }
})

test.each([
  [1, '::/1'],
  [32, '2001:db8::/32'],
  [48, '2001:db8:1234::/48'],
  [56, '2001:db8:1234:5600::/56'],
  [60, '2001:db8:1234:5670::/60'],
  [64, '2001:db8:1234:5678::/64'],
  [128, '2001:db8:1234:5678:9abc:def0:1234:5678/128'],
])('ipv6Prefix %d gives %s', (ipv6Prefix, identity) => {
  expect(byIp({ ipv6Prefix })(requestFrom('2001:db8:1234:5678:9abc:def0:1234:5678'))).toBe(identity)
})

test.each<[string, unknown, unknown]>([
  ['its req.ip', '203.0.113.9', '203.0.113.9'],
  ['its req.ip, in any spelling', '::ffff:203.0.113.9', '203.0.113.9'],
  ['its req.ip without a port', '203.0.113.9:4711', '203.0.113.9'],
  ['the socket where req.ip is undefined', undefined, '10.0.0.1'],
  ['the socket where req.ip is no address', 'unknown', '10.0.0.1'],
  ['the socket where req.ip is empty', '', '10.0.0.1'],
  ['the socket where req.ip is no string', ['203.0.113.9'], '10.0.0.1'],
  ['the socket where req.ip is 100 KB of garbage', 'x'.repeat(100_000), '10.0.0.1'],
])('under Express a request is %s', (_what, ip, identity) => {
  expect(byIp()(expressRequest(1, ip))).toBe(identity)
})

test.each<[string, unknown]>([
  ['a Unix socket', requestFrom(undefined)],
  ['a closed connection', requestFrom('')],
  ['a socket that is null', { headers: {}, socket: null }],
  ['an address that is no text', { headers: {}, socket: { remoteAddress: 16909060 } }],
  ['a socket file as its address', requestFrom('/run/app.sock')],
])('a request with %s has the identity "unknown", and a warning is emitted once', (_what, subject) => {
  const key = byIp()
  expect([key(subject), key(subject)]).toEqual(['unknown', 'unknown'])
  expect(warnings()).toEqual(['HEADGATE_NO_ADDRESS'])
})

test.each([
  ['X-Forwarded-For', { 'x-forwarded-for': '203.0.113.9' }],
  ['Forwarded', { forwarded: 'for=203.0.113.9' }],
])('%s changes nothing where no proxy is trusted, and a warning is emitted once', (_name, headers) => {
  const key = byIp()
  expect(key(requestFrom('192.0.2.7', headers))).toBe('192.0.2.7')
  expect(key(requestFrom('192.0.2.8', headers))).toBe('192.0.2.8')
  expect(warnings()).toEqual(['HEADGATE_UNTRUSTED_PROXY'])
})

test.each<[string, unknown, unknown[]]>([
  ['is not set', undefined, ['HEADGATE_UNTRUSTED_PROXY']],
  ['is false', false, ['HEADGATE_UNTRUSTED_PROXY']],
  ['is 0', 0, ['HEADGATE_UNTRUSTED_PROXY']],
  ['is true', true, ['HEADGATE_TRUSTS_EVERY_PROXY']],
  ['is 1', 1, []],
  ['is a name', 'loopback', []],
  ['is a list', ['10.0.0.0/8'], []],
  ['is a function', () => true, []],
])('under Express, a forwarded request where trust proxy %s emits the warnings %j', (_what, trust, codes) => {
  const request = expressRequest(trust, '192.0.2.7', { 'x-forwarded-for': '203.0.113.9' })
  const key = byIp()
  const address = trust ? '192.0.2.7' : '10.0.0.1' // the one that Express reports, or the socket's
  for (let i = 0; i < 3; i++) expect(key(request)).toBe(address)
  expect(warnings()).toEqual(codes)
})

test('requests that are not forwarded emit no warning where no proxy is trusted', () => {
  byIp()(requestFrom('192.0.2.7'))
  byIp()(expressRequest(false, '192.0.2.7'))
  expect(warnings()).toEqual([])
})

test('a warning has a text that says what to set', () => {
  byIp()(requestFrom('192.0.2.7', { 'x-forwarded-for': '203.0.113.9' }))
  const [message] = (process.emitWarning as jest.Mock).mock.calls[0] as [string]
  expect(message).toContain("app.set('trust proxy', 1)")
  expect(message).toContain('byIp({ trustProxy: 1 })')
})

test.each<[unknown, string]>([
  [null, 'byIp: options must be an object'],
  [56, 'byIp: options must be an object, got a number'],
  [
    { ipv6Prefix: 0 },
    'byIp: ipv6Prefix must be a whole number from 1 to 128, got 0. Did you mean ipv6Prefix: 1?',
  ],
  [{ ipv6Prefix: 129 }, 'got 129. Did you mean ipv6Prefix: 128?'],
  [{ ipv6Prefix: 56.5 }, 'got 56.5. Did you mean ipv6Prefix: 57?'],
  [{ ipv6Prefix: '56' }, 'got "56". Did you mean ipv6Prefix: 56?'],
  [{ ipv6Prefix: '/56' }, 'got "/56".'],
  [{ ipv6Prefix: Number.NaN }, 'got NaN.'],
  [{ ipv6Subnet: 56 }, 'byIp: there is no option "ipv6Subnet". Write ipv6Prefix instead.'],
  [{ trustproxy: 'loopback' }, 'Did you mean trustProxy?'],
])('byIp(%j) throws an error with the fix', (options, message) => {
  expect(() => byIp(options as object)).toThrow(TypeError)
  expect(() => byIp(options as object)).toThrow(message)
})
