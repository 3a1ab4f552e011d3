import { byIp, byUser, rateLimit } from 'headgate'
import { NODE_HTTP, sayHello } from '../../support/frameworks.js'
import { closeServers, serve, statuses } from '../../support/http.js'
import { expressRequest, requestFrom } from './requests.js'

afterEach(closeServers)

const PREFIXES = ['2001:db8:64::/96', '2001:DB8:65:0:0:0::/96']

test.each([
  ['2001:db8:64::192.0.2.7', '192.0.2.7'],
  ['2001:db8:64::c000:207', '192.0.2.7'],
  ['[2001:db8:64::192.0.2.7]:443', '192.0.2.7'],
  ['2001:db8:65::192.0.2.7', '192.0.2.7'],
  ['2001:db8:64::1:c000:207', '2001:db8:64::/56'],
  ['2001:db8:66::192.0.2.7', '2001:db8:66::/56'],
  ['64:ff9b::192.0.2.7', '192.0.2.7'],
  ['2002:c000:207::1', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['192.0.2.7', '192.0.2.7'],
])('with nat64, a request from %s is %s', (address, identity) => {
  const key = byIp({ nat64: PREFIXES })
  expect(key(requestFrom(address))).toBe(identity)
  expect(key(expressRequest(1, address))).toBe(identity)
})

test('without nat64, clients behind a translator of the operator share its network', () => {
  expect(byIp()(requestFrom('2001:db8:64::192.0.2.7'))).toBe('2001:db8:64::/56')
})

describe('allow and block see the IPv4 address behind a translator', () => {
  const nat64 = byIp({ trustProxy: 'loopback', nat64: PREFIXES })
  const clients = ['2001:db8:64::192.0.2.7', '192.0.2.7', '2001:db8:64::192.0.2.8', '2001:db8:66::192.0.2.7']
  const forwarded = clients.map((client) => ({ headers: { 'x-forwarded-for': client } }))

  test.each([
    ['an IPv4 address', '192.0.2.7', [403, 403, 200, 200]],
    ['an IPv4 range', '192.0.2.0/24', [403, 403, 403, 200]],
    ['an address within the prefix', '2001:db8:64::192.0.2.7', [403, 403, 200, 200]],
    ['a range within the prefix', '2001:db8:64::c000:200/120', [403, 403, 403, 200]],
    ['an IPv6 range around the prefix', '2001:db8::/32', [200, 200, 200, 403]],
  ])('where block holds %s', async (_what, entry, expected) => {
    for (const key of [nat64, byUser(() => undefined, { anonymous: nat64 })]) {
      const limiter = rateLimit({ limit: 9, window: '1h', key, block: [entry] })
      expect(await statuses(await serve(NODE_HTTP.app(limiter, sayHello)), forwarded)).toEqual(expected)
    }
  })

  test('where allow holds an address', async () => {
    const limiter = rateLimit({ limit: 1, window: '1h', key: nat64, allow: ['192.0.2.7'] })
    const served = await serve(NODE_HTTP.app(limiter, sayHello))
    expect(await statuses(served, [...forwarded, ...forwarded])).toEqual([
      200, 200, 200, 200, 200, 200, 429, 429,
    ])
  })

  test('but not a block of the whole prefix, which is an error', () => {
    const make = () => rateLimit({ limit: 9, window: '1h', key: nat64, block: ['2001:db8:64::/96'] })
    expect(make).toThrow(TypeError)
    expect(make).toThrow('Write the IPv4 range')
  })
})

test.each<[unknown]>([
  ['2001:db8:64::/64'],
  ['2001:db8:64::'],
  ['2001:db8:64::/97'],
  ['2001:db8:64::/096'],
  ['2001:db8:64::%eth0/96'],
  [' 2001:db8:64::/96'],
  ['192.0.2.0/96'],
  ['1::2::3/96'],
  ['/96'],
  [''],
  [7],
  [null],
  [undefined],
])('nat64 with the entry %j is an error that says what to write', (entry) => {
  const make = () => byIp({ nat64: ['2001:db8:64::/96', entry as string] })
  expect(make).toThrow(TypeError)
  expect(make).toThrow('byIp: nat64 must be an array of IPv6 prefixes of 96 bits, got an array of 2.')
  expect(make).toThrow("Did you mean nat64: ['2001:db8:64::/96']?")
})

test.each<[unknown]>([['2001:db8:64::/96'], [true], [null], [{}]])(
  'nat64: %j is an error that says what to write',
  (nat64) => {
    const make = () => byIp({ nat64: nat64 as string[] })
    expect(make).toThrow(TypeError)
    expect(make).toThrow('byIp: nat64 must be an array of IPv6 prefixes of 96 bits, got ')
    expect(make).toThrow("Did you mean nat64: ['2001:db8:64::/96']?")
  },
)
