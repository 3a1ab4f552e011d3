import { parseAddress } from '../../../src/keys/address.js'
import { addressList } from '../../../src/keys/address-list.js'

const listed = (entries: unknown) => {
  const isListed = addressList('rateLimit', 'block', entries)
  return (text: string | undefined) => isListed(parseAddress(text))
}

test.each<[string, string, boolean]>([
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.8', false],
  ['192.0.2.7', '::ffff:192.0.2.7', true],
  ['192.0.2.7', '::ffff:c000:207', true],
  ['192.0.2.7', '64:ff9b::192.0.2.7', true],
  ['192.0.2.7', '192.0.2.7:443', true],
  ['::ffff:192.0.2.7', '192.0.2.7', true],
  ['::ffff:192.0.2.7', '192.0.2.8', false],
  ['192.0.2.0/24', '192.0.2.255', true],
  ['192.0.2.0/24', '192.0.3.0', false],
  ['192.0.2.7/32', '192.0.2.7', true],
  ['192.0.2.6/31', '192.0.2.7', true],
  ['192.0.2.6/31', '192.0.2.8', false],
  ['10.0.0.0/8', '::ffff:10.255.0.1', true],
  ['0.0.0.0/0', '203.0.113.7', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '2001:db8::1', true],
  ['::/0', '203.0.113.7', false],
  ['2001:db8::1', '2001:DB8:0:0::1', true],
  ['2001:db8::1', '2001:db8::2', false],
  ['2001:db8::/32', '2001:db8:ffff::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['2001:db8:1234:5600::/56', '2001:db8:1234:56ff::1', true],
  ['2001:db8:1234:5600::/56', '2001:db8:1234:5700::1', false],
  ['fe80::/10', 'fe80::1%eth0', true],
  ['::1', '[::1]:80', true],
])('with %s in the list, %s is in it: %s', (entry, address, isIn) => {
  expect(listed([entry])(address)).toBe(isIn)
})

test.each([
  ['::ffff:10.0.0.0/104', '10.1.2.3', true],
  ['::ffff:10.0.0.0/104', '11.1.2.3', false],
  ['::ffff:192.0.2.7/128', '192.0.2.7', true],
  ['::ffff:0:0/96', '203.0.113.7', true],
  ['64:ff9b::192.0.2.0/120', '192.0.2.7', true],
  ['64:ff9b::192.0.2.0/120', '192.0.3.7', false],
])('a range of mapped addresses counts its bits as IPv6 does: %s and %s', (entry, address, isIn) => {
  expect(listed([entry])(address)).toBe(isIn)
})

test.each([
  ['2002:c000:207::/48', '192.0.2.7', true],
  ['2002:c000:207::/48', '192.0.2.8', false],
  ['2002:c000:207::/48', '2002:c000:207:1::1', true],
  ['2002:c000:207:1::1', '192.0.2.7', true],
  ['2002:c000:207:1::1/128', '2002:c000:207:2::1', true],
  ['2002:c000:200::/40', '192.0.2.255', true],
  ['2002:c000:200::/40', '192.0.3.0', false],
  ['2002:8000::/17', '128.0.0.1', true],
  ['2002:8000::/17', '127.0.0.1', false],
  ['192.0.2.7', '2002:c000:207::1', true],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', '192.0.2.45', true],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:0:5ef5:79fd:0:59d:3fff:fdd2', true],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', '192.0.2.46', false],
  ['2001:0:4136:e378:8000:63bf:3fff:fd00/120', '192.0.2.46', true],
  ['192.0.2.45', '2001:0:4136:e378:8000:63bf:3fff:fdd2', true],
  ['2001::/23', '2001:1::1', true],
  ['2001::/23', '2001:0:4136:e378:8000:63bf:3fff:fdd2', false],
  ['2002::/15', '2003::1', true],
  ['2000::/3', '2002:c000:207::1', false],
])('an entry with an embedded IPv4 address is that address: %s and %s', (entry, address, isIn) => {
  expect(listed([entry])(address)).toBe(isIn)
})

test.each([
  '2002::/16',
  '2002:c000:207:1::/64',
  '2001::/32',
  '2001:0:4136:e378::/64',
  '64:ff9b::/96',
  '64:ff9b::/32',
  '::ffff:10.0.0.0/8',
])('%s is an error that says to write IPv4', (entry) => {
  expect(() => listed([entry])).toThrow(TypeError)
  expect(() => listed([entry])).toThrow(
    `rateLimit: block must hold IP addresses and CIDR ranges, got "${entry}". Addresses in that range ` +
      "count as the IPv4 addresses that they embed. Write the IPv4 range, such as '192.0.2.0/24'.",
  )
})

test.each(['::ffff:10.0.0.0/8', '64:ff9b::/32', '::ffff:1.2.3.4/0'])(
  '%s is not read as a range of IPv4 addresses',
  (entry) => {
    expect(() => listed([entry])).toThrow(TypeError)
  },
)

test('a list of several entries holds what any of them holds', () => {
  const isListed = listed(['192.0.2.7', '10.0.0.0/8', '2001:db8::/32'])
  const held = ['192.0.2.7', '10.1.1.1', '2001:db8::1', '192.0.2.8', '11.0.0.1', '::1']
  expect(held.map(isListed)).toEqual([true, true, true, false, false, false])
})

test.each([undefined, '', 'unknown', '192.0.2', '/run/app.sock', 'x'.repeat(100_000)])(
  'an invalid address is in no list: %j',
  (text) => {
    expect(listed(['0.0.0.0/0', '::/0'])(text)).toBe(false)
  },
)

test('an empty list holds no address', () => {
  expect(listed([])('192.0.2.7')).toBe(false)
})

test.each<[unknown, string]>([
  ['', '""'],
  ['localhost', '"localhost"'],
  ['example.com', '"example.com"'],
  ['192.0.2', '"192.0.2"'],
  ['192.0.2.256', '"192.0.2.256"'],
  ['192.0.2.07', '"192.0.2.07"'],
  ['10/8', '"10/8"'],
  ['10.0.0.0/', '"10.0.0.0/"'],
  ['10.0.0.0/33', '"10.0.0.0/33"'],
  ['10.0.0.0/-1', '"10.0.0.0/-1"'],
  ['10.0.0.0/8.5', '"10.0.0.0/8.5"'],
  ['10.0.0.0/x', '"10.0.0.0/x"'],
  ['10.0.0.0/ 8', '"10.0.0.0/ 8"'],
  ['10.0.0.0/8/8', '"10.0.0.0/8/8"'],
  ['10.0.0.0/255.0.0.0', '"10.0.0.0/255.0.0.0"'],
  ['10.0.0.0-10.0.0.9', '"10.0.0.0-10.0.0.9"'],
  ['10.0.0.*', '"10.0.0.*"'],
  ['2001:db8::/129', '"2001:db8::/129"'],
  ['2001:db8', '"2001:db8"'],
  ['/8', '"/8"'],
  ['10.0.0.1, 10.0.0.2', '"10.0.0.1, 10.0.0.2"'],
  [undefined, 'undefined'],
  [null, 'null'],
  [7, '7'],
  [{}, 'an object'],
  [['10.0.0.0/8'], 'an array of 1'],
])('the entry %j is an error that shows it', (entry, shown) => {
  const make = () => listed(['192.0.2.7', entry])
  expect(make).toThrow(TypeError)
  expect(make).toThrow(`rateLimit: block must hold IP addresses and CIDR ranges, got ${shown}.`)
})

test.each<[unknown, string]>([
  ['10.0.0.0/8', '"10.0.0.0/8"'],
  [null, 'null'],
  [new Set(['10.0.0.0/8']), 'an object'],
  [7, '7'],
])('%p instead of a list is an error with the fix', (entries, shown) => {
  expect(() => listed(entries)).toThrow(
    `rateLimit: block must be an array of IP addresses and CIDR ranges, got ${shown}. Did you mean block: ['10.0.0.0/8']?`,
  )
})
