import { clientAddress, isForwardedList } from '../../../src/cli/log/client-address.js'
import { isPrivateAddress } from '../../../src/cli/log/private-address.js'

const PUBLIC = '203.0.113.9'

test.each([
  ['without a list, the connection', '10.0.3.4', undefined, '10.0.3.4'],
  ['behind one proxy, the last entry', '10.0.3.4', '198.51.100.7', '198.51.100.7'],
  [
    'behind several, the last entry that is none',
    '10.0.3.4',
    '198.51.100.7, 192.168.0.1,10.0.0.2',
    '198.51.100.7',
  ],
  ['what it wrote itself is not read', '10.0.3.4', '8.8.8.8, 198.51.100.7', '198.51.100.7'],
  ['a connection that is not a proxy is the client', PUBLIC, '198.51.100.7', PUBLIC],
  ['of proxies alone, the furthest', '10.0.3.4', '10.1.1.1, 10.2.2.2', '10.1.1.1'],
  ['an entry without an address ends the list', '10.0.3.4', '8.8.8.8, unknown, 10.2.2.2', '10.2.2.2'],
  ['-', '10.0.3.4', '-', '10.0.3.4'],
  ['an empty list', '10.0.3.4', '', '10.0.3.4'],
  ['only commas', '10.0.3.4', ',,,', '10.0.3.4'],
  ['a connection that was not logged', '', '8.8.8.8, 198.51.100.7', '198.51.100.7'],
  ['a connection on a Unix socket', 'unix:', '8.8.8.8, 198.51.100.7', '198.51.100.7'],
  ['with a port, as Azure writes it', '10.0.3.4', '198.51.100.7:4711', '198.51.100.7:4711'],
  [
    'of RFC 7239',
    '10.0.3.4',
    'for=8.8.8.8, for="[2001:db8::1]:80";proto=http;by=10.0.3.4',
    '[2001:db8::1]:80',
  ],
  ['with its parameters in another order', '10.0.3.4', 'proto=http; For=198.51.100.7', '198.51.100.7'],
  ['a list whose proxies have IPv6 addresses', '::1', '2001:db8::7, fd00::1, ::ffff:10.0.0.1', '2001:db8::7'],
])('%s', (_what, address, forwarded, client) => {
  expect(clientAddress(address, forwarded)).toBe(client)
})

test('a list as long as a log allows costs no more than a chain of proxies', () => {
  expect(clientAddress('10.0.0.1', `${'10.0.0.1,'.repeat(400_000)}10.0.0.2`)).toBe('10.0.0.1')
  expect(clientAddress('10.0.0.1', 'x'.repeat(4_000_000))).toBe('10.0.0.1')
  expect(isForwardedList('10.0.0.1,'.repeat(400_000))).toBe(false)
})

test('a number of proxies counts from the server', () => {
  const clientBehind = (proxies: number) =>
    clientAddress(PUBLIC, '198.51.100.1, 10.0.0.2, 198.51.100.3', (_address, place) => place < proxies)
  expect([0, 1, 2, 3, 9].map(clientBehind)).toEqual([
    ...[PUBLIC, '198.51.100.3', '10.0.0.2', '198.51.100.1', '198.51.100.1'],
  ])
})

test('private addresses', () => {
  const privates = [
    ...[
      '10.0.0.0',
      '10.255.255.255',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '127.0.0.1',
      '100.64.0.1',
    ],
    ...[
      '100.127.255.255',
      '169.254.1.1',
      '::1',
      '[::1]:80',
      'fc00::1',
      'FD12::1',
      'fe80::1%eth0',
      '10.0.0.1:80',
    ],
    ...['::ffff:10.0.0.1', '0:0:0:0:0:ffff:c0a8:0101'],
  ]
  const others = [
    ...['9.255.255.255', '11.0.0.0', '172.15.0.1', '172.32.0.1', '192.167.1.1', '100.63.0.1', '100.128.0.1'],
    ...['128.0.0.1', '192.0.2.1', '2001:db8::1', '::2', 'fbff::1', 'fec0::1', '::ffff:8.8.8.8'],
    ...['10.example.com', '10.0.0', '-', '', 'unix:', '010.0.0.1', '10.0.0.256', '1'.repeat(500)],
  ]
  expect(privates.filter((each) => !isPrivateAddress(each))).toEqual([])
  expect(others.filter(isPrivateAddress)).toEqual([])
})

test('lists of addresses', () => {
  const lists = ['198.51.100.7', '198.51.100.7, 10.0.0.1', '::1,2001:db8::1', 'for=1.2.3.4;proto=http']
  lists.push('for=\\"[2001:db8::1]:4711\\";proto=https', 'for=\\x22[2001:db8::1]\\x22')
  const others = ['', '-', '200', '1.2.3', 'curl/8', '198.51.100.7, x', 'a.example', '1.2.3.4 5.6.7.8']
  expect(lists.filter((each) => !isForwardedList(each))).toEqual([])
  expect(others.filter(isForwardedList)).toEqual([])
})
