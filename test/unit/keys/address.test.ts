import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { addressIdentity, parseAddress } from '../../../src/keys/address.js'
import { isPlainIpv4 } from '../../../src/keys/ip-text.js'

/** The identity of a text under /56, or undefined where it is no address. */
function identityOf(text: string, ipv6Prefix = 56): string | undefined {
  const address = parseAddress(text)
  return address && addressIdentity(address, ipv6Prefix)
}

test.each([
  ['1.2.3.4', '1.2.3.4'],
  ['0.0.0.0', '0.0.0.0'],
  ['255.255.255.255', '255.255.255.255'],
  [' 1.2.3.4 ', '1.2.3.4'],
  ['1.2.3.4:80', '1.2.3.4'],
  ['1.2.3.4:65535', '1.2.3.4'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['::FFFF:1.2.3.4', '1.2.3.4'],
  ['::ffff:102:304', '1.2.3.4'],
  ['0:0:0:0:0:FFFF:0102:0304', '1.2.3.4'],
  ['0000:0000:0000:0000:0000:ffff:0102:0304', '1.2.3.4'],
  ['[::ffff:1.2.3.4]', '1.2.3.4'],
  ['[::ffff:1.2.3.4]:443', '1.2.3.4'],
  ['::ffff:1.2.3.4%eth0', '1.2.3.4'],
  ['64:ff9b::1.2.3.4', '1.2.3.4'],
  ['64:ff9b::102:304', '1.2.3.4'],
  ['0064:FF9B:0::0102:0304', '1.2.3.4'],
  ['2002:102:304::1', '1.2.3.4'],
  ['2002:0102:0304:ffff:ffff:ffff:ffff:ffff', '1.2.3.4'],
  ['[2002:102:304::1%eth0]:443', '1.2.3.4'],
  ['2003:102:304::1', '2003:102:304::/56'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', '192.0.2.45'],
  ['2001:0:5ef5:79fd:0:59d:3fff:fdd2', '192.0.2.45'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd1', '192.0.2.46'],
  ['2001:1:4136:e378:8000:63bf:3fff:fdd2', '2001:1:4136:e300::/56'],
  ['2001:db8:1234:5678::1.2.3.4', '2001:db8:1234:5600::/56'],
  ['2001:db8:1234:5678::', '2001:db8:1234:5600::/56'],
  ['2001:db8:1234:56ff:ffff:ffff:ffff:ffff', '2001:db8:1234:5600::/56'],
  ['2001:0DB8:1234:5678:0000:0000:0000:0001', '2001:db8:1234:5600::/56'],
  ['2001:db8:1234:5678::1%eth0', '2001:db8:1234:5600::/56'],
  ['[2001:db8:1234:5678::1]', '2001:db8:1234:5600::/56'],
  ['[2001:db8:1234:5678::1]:8080', '2001:db8:1234:5600::/56'],
  ['[2001:db8:1234:5678::1%eth0]:8080', '2001:db8:1234:5600::/56'],
  ['2001:db8:1234:5700::1', '2001:db8:1234:5700::/56'],
  ['::1', '::/56'],
  ['fe80::1%eth0', 'fe80::/56'],
  ['64:ff9b:1::1.2.3.4', '64:ff9b:1::/56'],
  ['::fffe:1.2.3.4', '::/56'],
])('the address %s is %s', (text, identity) => {
  expect(identityOf(text)).toBe(identity)
})

test.each([
  ['64:ff9b::127.0.0.1', '64:ff9b::/56'],
  ['64:ff9b::10.0.0.1', '64:ff9b::/56'],
  ['2002:7f00:1::1', '2002:7f00:1::/56'],
  ['2002:a00:1::1', '2002:a00:1::/56'],
  ['2002:c0a8:101::1', '2002:c0a8:101::/56'],
  ['2001:0:1234::80ff:fffe', '2001:0:1234::/56'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
])('a public network that embeds a private address identifies no client: %s is %s', (text, identity) => {
  expect(identityOf(text)).toBe(identity)
})

test.each([
  '',
  ' ',
  'unknown',
  '_hidden',
  'localhost',
  'example.com',
  '1',
  '1.2.3',
  '1.2.3.4.5',
  '1.2.3.256',
  '1.2.3.-4',
  '1.2.3.4a',
  '1..3.4',
  '1.2.3.4,5.6.7.8',
  '01.2.3.4',
  '1.2.3.04',
  '0x1.2.3.4',
  '0x01020304',
  '16909060',
  '1.2.772',
  '1.2.3.4/32',
  '1.2.3.4:',
  '1.2.3.4:123456',
  '1.2.3.4:http',
  '::ffff:010.0.0.1',
  '::017.0.0.1',
  '::1.2.3',
  '[1.2.3.4',
  '::1]',
  '[]',
  '[]:80',
  ':',
  ':::',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1::2::3',
  '12345::',
  'g::1',
  '::ffff:1.2.3.256',
  '::1.2.3',
  '::/0',
  '%eth0',
  '\u0661.\u0662.\u0663.\u0664',
  '１.２.３.４',
  '1.2.3.4\0',
  '1.2\n.3.4',
  `${'0'.repeat(100)}1.2.3.4`,
  `::1%${'x'.repeat(200)}`,
  '1.2.3.4'.repeat(20_000),
  ':'.repeat(100_000),
])('%j is no address', (text) => {
  expect(identityOf(text)).toBeUndefined()
})

test.each([
  [1, '8000::/1'],
  [4, 'f000::/4'],
  [7, 'fe00::/7'],
  [8, 'ff00::/8'],
  [9, 'ff80::/9'],
  [16, 'ffff::/16'],
  [32, 'ffff:ffff::/32'],
  [48, 'ffff:ffff:ffff::/48'],
  [56, 'ffff:ffff:ffff:ff00::/56'],
  [60, 'ffff:ffff:ffff:fff0::/60'],
  [63, 'ffff:ffff:ffff:fffe::/63'],
  [64, 'ffff:ffff:ffff:ffff::/64'],
  [65, 'ffff:ffff:ffff:ffff:8000::/65'],
  [127, 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/127'],
  [128, 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128'],
])('a prefix of %d bits keeps exactly those', (prefix, identity) => {
  expect(identityOf('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', prefix)).toBe(identity)
})

test('an IPv4-compatible address is IPv6 in each spelling', () => {
  for (const text of ['::10.0.0.1', '::a00:1', '0:0:0:0:0:0:10.0.0.1'])
    expect(identityOf(text, 128)).toBe('::a00:1/128')
})

test('the prefix of IPv6 leaves IPv4 whole, however it is spelled', () => {
  for (const text of ['1.2.3.4', '::ffff:1.2.3.4', '64:ff9b::1.2.3.4', '2002:102:304::']) {
    for (const prefix of [1, 56, 128]) expect(identityOf(text, prefix)).toBe('1.2.3.4')
  }
})

test('two addresses share an identity exactly when their leading bits are the same', () => {
  const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
  const embedsIpv4 = ([first, second]: number[]) =>
    first === 0 || first === 0x64 || first === 0x2002 || (first === 0x2001 && second === 0)
  const textOf = (numbers: number[]) => numbers.map((n) => n.toString(16)).join(':')
  const bitsOf = (numbers: number[]) => numbers.map((n) => n.toString(2).padStart(16, '0')).join('')
  fc.assert(
    fc.property(groups, fc.nat(127), fc.integer({ min: 1, max: 128 }), (first, flipped, prefix) => {
      fc.pre(!embedsIpv4(first))
      const second = [...first]
      const group = Math.floor(flipped / 16)
      second[group] = (second[group] as number) ^ (0x8000 >> (flipped % 16))
      fc.pre(!embedsIpv4(second))
      const same = bitsOf(first).slice(0, prefix) === bitsOf(second).slice(0, prefix)
      expect(identityOf(textOf(first), prefix) === identityOf(textOf(second), prefix)).toBe(same)
    }),
  )
})

test('the quick test for plain IPv4 agrees with the full one', () => {
  const almost = fc.stringMatching(/^[0-9.]{1,16}$/)
  const sound = fc.ipV4()
  const ports = fc.tuple(sound, fc.nat(70_000)).map(([text, port]) => `${text}:${port}`)
  fc.assert(
    fc.property(fc.oneof(almost, sound, ports, fc.ipV6(), fc.string()), (text) => {
      const isPlain = ipaddr.IPv4.isValid(text) && ipaddr.IPv4.parse(text).toString() === text
      expect(isPlainIpv4(text)).toBe(isPlain)
    }),
    { numRuns: 1000 },
  )
})
