import { byIp, byUser, rateLimit } from 'headgate'
import { FRAMEWORKS, sayHello } from '../../support/frameworks.js'
import { closeServers, serve, statuses } from '../../support/http.js'
import { recordWarnings } from '../../support/warnings.js'
import { expressRequest, requestFrom } from './requests.js'

const warnings = recordWarnings()
afterEach(closeServers)

const HEADER = 'cf-connecting-ip'
const cdn = byIp({ header: 'CF-Connecting-IP', from: ['173.245.48.0/20', '2400:cb00::/32', '127.0.0.1'] })
const through = (peer: string | undefined, value: unknown) => cdn(requestFrom(peer, { [HEADER]: value }))

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  [' 203.0.113.7 ', '203.0.113.7'],
  ['203.0.113.7:4711', '203.0.113.7'],
  ['2001:DB8:1234:5678::1', '2001:db8:1234:5600::/56'],
  ['2001:db8:1234:56ff:ffff::1', '2001:db8:1234:5600::/56'],
  ['[2001:db8:1234:5678::1]', '2001:db8:1234:5600::/56'],
  ['2002:cb00:7107::1', '203.0.113.7'],
])('the header of a believed peer is read as an address: %s is %s', (value, identity) => {
  for (const peer of ['173.245.48.1', '::ffff:173.245.63.254', '2400:cb00:1::1', '127.0.0.1'])
    expect(through(peer, value)).toBe(identity)
  expect(warnings()).toEqual([])
})

test.each<[unknown]>([
  [undefined],
  [''],
  ['garbage'],
  ['203.0.113.7, 203.0.113.8'],
  ['203.0.113.0/24'],
  [['203.0.113.7']],
  ['x'.repeat(100_000)],
])('a header of %j falls back to the peer, and a warning is emitted once', (value) => {
  for (let i = 0; i < 2; i++) expect(through('173.245.48.1', value)).toBe('173.245.48.1')
  const isRead = typeof value === 'string' // Node.js joins duplicates of such a header in one string
  expect(warnings()).toEqual(isRead ? ['HEADGATE_UNREADABLE_ADDRESS'] : [])
})

test.each(['x-forwarded-for', 'X-Forwarded-For', 'forwarded'])(
  'header: %s, which holds a list, is an error that says to give the number of proxies',
  (header) => {
    expect(() => byIp({ header, from: ['127.0.0.1'] })).toThrow(
      'For a list, write trustProxy: 1, the number of proxies',
    )
  },
)

test('a header on a closed connection emits no warning', () => {
  const gone = { headers: { [HEADER]: '203.0.113.7' }, socket: { destroyed: true, remoteAddress: undefined } }
  expect(() => cdn(gone)).toThrow("the request's connection has closed")
  expect(warnings()).toEqual([])
})

test.each(['173.245.64.1', '::ffff:198.51.100.1', '::1'])(
  'the header of %s, which is not in from, is not believed, and a warning is emitted once',
  (peer) => {
    const alone = byIp()(requestFrom(peer))
    expect([through(peer, '203.0.113.7'), through(peer, '203.0.113.8')]).toEqual([alone, alone])
    expect(warnings()).toEqual(['HEADGATE_UNTRUSTED_PROXY'])
    const [message] = (process.emitWarning as jest.Mock).mock.calls[0] as [string]
    expect(message).toContain(
      'cf-connecting-ip was ignored: the request came from an IP address that the option from does not list',
    )
  },
)

test('a header over a Unix socket is not believed', () => {
  expect(through(undefined, '203.0.113.7')).toBe('unknown')
  expect(warnings()).toEqual(['HEADGATE_UNTRUSTED_PROXY', 'HEADGATE_NO_ADDRESS'])
})

test('X-Forwarded-For and req.ip do not matter beside a header', () => {
  const headers = { [HEADER]: '203.0.113.7', 'x-forwarded-for': '198.51.100.7' }
  const request = {
    ...expressRequest(true, '198.51.100.7', headers),
    socket: { remoteAddress: '173.245.48.1' },
  }
  expect(cdn(request)).toBe('203.0.113.7')
  expect(cdn({ ...request, socket: { remoteAddress: '192.0.2.7' } })).toBe('192.0.2.7')
})

test('the header is also read from the Headers of the Fetch standard', () => {
  expect(cdn(requestFrom('173.245.48.1', new Headers({ [HEADER]: '203.0.113.7' })))).toBe('203.0.113.7')
})

test('the option from applies to the IPv4 addresses that nat64 extracts', () => {
  const key = byIp({ header: HEADER, from: ['192.0.2.1'], nat64: ['2001:db8:64::/96'] })
  const headers = { [HEADER]: '2001:db8:64::203.0.113.7' }
  expect(key(requestFrom('2001:db8:64::192.0.2.1', headers))).toBe('203.0.113.7')
})

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  const sent = (client: string) => ({ headers: { [HEADER]: client } })
  const clients = ['203.0.113.7', '203.0.113.8', '203.0.113.8', '203.0.113.9'].map(sent)
  const keys = [cdn, byUser(() => undefined, { anonymous: cdn })]

  test('each client has a bucket of its own, and allow and block see its address', async () => {
    for (const key of keys) {
      const limiter = rateLimit({
        limit: 1,
        window: '1h',
        key,
        block: ['203.0.113.7'],
        allow: ['203.0.113.9'],
      })
      const served = await serve(app(limiter, sayHello))
      expect(await statuses(served, [...clients, ...clients])).toEqual([
        403, 200, 429, 200, 403, 429, 429, 200,
      ])
    }
  })

  test('a peer that is not in from cannot choose an address', async () => {
    const limiter = rateLimit({ limit: 1, window: '1h', key: cdn, allow: ['203.0.113.9'] })
    const served = await serve(app(limiter, sayHello))
    const forged = clients.map((each) => ({ ...each, from: '127.0.0.2' }))
    expect(await statuses(served, forged)).toEqual([200, 429, 429, 429])
  })
})

const FIX = "Write header: 'cf-connecting-ip', from: ['173.245.48.0/20']."
const FROM = 'an array of at least one IP address or CIDR range'
test.each<[object, string]>([
  [{ header: HEADER }, `byIp: from must be ${FROM}, got undefined. ${FIX}`],
  [{ header: HEADER, from: [] }, `byIp: from must be ${FROM}, got an array of 0. ${FIX}`],
  [{ header: HEADER, from: '127.0.0.1' }, `byIp: from must be ${FROM}, got "127.0.0.1". ${FIX}`],
  [{ from: ['127.0.0.1'] }, `byIp: header must be the name of a header, got undefined. ${FIX}`],
  [{ header: '', from: ['127.0.0.1'] }, `byIp: header must be the name of a header, got "". ${FIX}`],
  [
    { header: 'x real ip', from: ['127.0.0.1'] },
    `byIp: header must be the name of a header, got "x real ip". ${FIX}`,
  ],
  [{ header: 7, from: ['127.0.0.1'] }, `byIp: header must be the name of a header, got 7. ${FIX}`],
  [
    { header: HEADER, from: ['loopback'] },
    'byIp: from must hold IP addresses and CIDR ranges, got "loopback".',
  ],
  [
    { header: HEADER, from: ['127.0.0.1'], trustProxy: 1 },
    'byIp: give either trustProxy, or header and from, not both. ' +
      "Leave trustProxy out if a header holds the client's IP address.",
  ],
  [{ from: ['127.0.0.1'], trustProxy: 1 }, 'byIp: give either trustProxy, or header and from, not both.'],
])('byIp(%j) throws an error with the fix', (options, message) => {
  expect(() => byIp(options)).toThrow(TypeError)
  expect(() => byIp(options)).toThrow(message)
})
