import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { embeddedIpv4 } from '../../../src/keys/embedded-ipv4.js'
import { formatIpv6, ipv6Network, parseIpv6 } from '../../../src/keys/ip-text.js'
import { bitsOf, isInRange, networkText } from '../../../src/keys/network-key.js'

const group = fc.oneof(fc.constantFrom(0, 0, 0, 1, 0xffff), fc.integer({ min: 0, max: 0xffff }))
const address = fc.array(group, { minLength: 8, maxLength: 8 })

/** Texts that are nearly addresses: wrong groups and separators, many runs of `::`, and all their joints. */
const nearly = fc
  .array(fc.constantFrom(':', ':', '::', '0', '1', 'ffff', '00ff', 'F', '12345', 'g', ' ', '-1', '1e3'), {
    maxLength: 18,
  })
  .map((pieces) => pieces.join(''))

const texts = fc.oneof(
  nearly,
  fc.ipV6().filter((text) => !text.includes('.')),
  address.map((groups) => groups.map((each) => each.toString(16)).join(':')),
  address.map((groups) => new ipaddr.IPv6(groups).toString().toUpperCase()),
  fc.stringMatching(/^[0-9a-f:]{0,24}$/),
)

/** Lists of a hundred, for a comparison of whole lists. */
const hundreds = <T>(each: fc.Arbitrary<T>) => fc.array(each, { minLength: 100, maxLength: 100 })

test('an IPv6 address is read as ipaddr.js reads it, and so is what is none', () => {
  fc.assert(
    fc.property(hundreds(texts), (list) => {
      const expected = list.map((text) =>
        ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text).parts : undefined,
      )
      expect(list.map(parseIpv6)).toEqual(expected)
    }),
    { numRuns: 100 },
  )
})

test.each([
  ['::ffff:1.2.3.4', [0, 0, 0, 0, 0, 0xffff, 0x102, 0x304]],
  ['::1.2.3.4', [0, 0, 0, 0, 0, 0, 0x102, 0x304]],
  ['1:2:3:4:5:6:255.255.255.255', [1, 2, 3, 4, 5, 6, 0xffff, 0xffff]],
  ['1:2:3:4:5::1.2.3.4', [1, 2, 3, 4, 5, 0, 0x102, 0x304]],
  ['1:2:3:4:5:6:7:1.2.3.4', undefined],
  ['1:2:3:4:5:6::1.2.3.4', undefined],
  ['::01.2.3.4', undefined],
  ['1.2.3.4', undefined],
  ['1.2.3.4::', undefined],
  ['', undefined],
  ['1', undefined],
])('%s is read as %j', (text, groups) => {
  expect(parseIpv6(text)).toEqual(groups)
})

test('an IPv6 address and its networks are written as ipaddr.js writes them', () => {
  fc.assert(
    fc.property(hundreds(fc.tuple(address, fc.integer({ min: 0, max: 128 }))), (list) => {
      const expected = list.map(([groups, prefix]) => {
        const oracle = new ipaddr.IPv6(groups)
        const network = ipaddr.IPv6.networkAddressFromCIDR(`${oracle}/${prefix}`)
        return [oracle.toString(), network.parts, network.toString()]
      })
      const written = list.map(([groups, prefix]) => [
        formatIpv6(groups),
        ipv6Network(groups, prefix),
        networkText(groups, prefix),
      ])
      expect(written).toEqual(expected)
    }),
    { numRuns: 20 },
  )
})

test('the network of an IPv4 address is the one that ipaddr.js finds', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (text, prefix) => {
      const network = ipaddr.IPv4.networkAddressFromCIDR(`${text}/${prefix}`)
      expect(networkText(text, prefix)).toBe(network.toString())
    }),
  )
})

test('an address is in a range exactly when ipaddr.js finds it there', () => {
  fc.assert(
    fc.property(address, address, fc.nat(128), fc.integer({ min: 0, max: 128 }), (a, b, shared, prefix) => {
      // Addresses that have some first bits in common, which two random ones seldom have.
      const tail = b.map((each, i) => each & ~(0xffff << Math.max(0, 16 * (i + 1) - shared)) & 0xffff)
      const other = ipv6Network(a, shared).map((each, i) => each | (tail[i] ?? 0))
      const expected = new ipaddr.IPv6(a).match(new ipaddr.IPv6(other), prefix)
      expect(isInRange(a, [other, prefix])).toBe(expected)
    }),
    { numRuns: 2000 },
  )
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (a, b, prefix) => {
      const expected = ipaddr.IPv4.parse(a).match(ipaddr.IPv4.parse(b), prefix)
      expect(isInRange(bitsOf(a), [bitsOf(b), prefix])).toBe(expected)
    }),
    { numRuns: 2000 },
  )
})

test('no IPv4 address is in a range of IPv6, and none of IPv6 in one of IPv4', () => {
  for (const prefix of [0, 1, 8, 32]) {
    expect(isInRange(0, [parseIpv6('::') ?? 0, prefix])).toBe(false)
    expect(isInRange(parseIpv6('::') ?? 0, [0, prefix])).toBe(false)
  }
})

const PRIVATE = /^(unspecified|loopback|private|carrierGradeNat|linkLocal|multicast|broadcast)$/

test('a public network embeds the addresses that ipaddr.js calls global', () => {
  const octet = fc.nat(255)
  const first = fc.oneof(fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 223, 224, 239, 240, 255), octet)
  const second = fc.oneof(fc.constantFrom(15, 16, 31, 32, 63, 64, 127, 128, 168, 254, 255), octet)
  const last = fc.oneof(fc.constantFrom(0, 255), octet)
  fc.assert(
    fc.property(hundreds(fc.tuple(first, second, last, last)), (list) => {
      const expected = list.map((octets) => {
        const oracle = new ipaddr.IPv4(octets)
        return PRIVATE.test(oracle.range()) ? undefined : oracle.toString()
      })
      const embedding = { network: [[0x2002], 16], ipv4At: 16, isPublic: true } as const
      const embedded = ([a, b, c, d]: (typeof list)[number]) =>
        embeddedIpv4([0x2002, a * 256 + b, c * 256 + d, 0, 0, 0, 0, 0], embedding)
      expect(list.map(embedded)).toEqual(expected)
    }),
    { numRuns: 50 },
  )
})
