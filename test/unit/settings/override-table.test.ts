import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { parseAddress } from '../../../src/keys/address.js'
import { EMBEDDINGS, embeddingsWith } from '../../../src/keys/embedded-ipv4.js'
import { shownIdentity } from '../../../src/keys/value-identity.js'
import type { SettingsOverride } from '../../../src/limiter/settings-document.js'
import { overrideTable, rowOf } from '../../../src/settings/override-table.js'
import { atOnce } from '../../../src/util/slices.js'

const NOW_MS = 1_000_000_000_000

/** A table whose rows have the indexes of the overrides. */
function tableOf(overrides: readonly SettingsOverride[], embeddings = EMBEDDINGS) {
  const rows = overrides.map((override, index) => ({
    ...rowOf(`overrides[${index}]`, override, embeddings),
    index,
  }))
  const table = atOnce(overrideTable(rows, () => NOW_MS))
  return {
    ofIdentity: (raw: string, identity = raw) => table.ofIdentity(raw, identity)?.index,
    ofAddress: (address: string) => table.ofAddress(parseAddress(address))?.index,
  }
}

test('an identity beats its prefixes, and the longest prefix beats the others', () => {
  const { ofIdentity } = tableOf([
    { identityPrefix: 'a', exempt: true },
    { identity: 'acme-eu', exempt: true },
    { identityPrefix: 'acme-', exempt: true },
  ])
  expect(['acme-eu', 'acme-eu2', 'acme-', 'acme', 'a', 'b', ''].map((raw) => ofIdentity(raw))).toEqual([
    ...[1, 2, 2, 0, 0, undefined, undefined],
  ])
})

test('an identity as stores keep it beats all others, until it ends', () => {
  const stored = shownIdentity('=acme')
  const overrides: SettingsOverride[] = [
    { identity: 'acme', exempt: true },
    { storedIdentity: stored, block: true, until: NOW_MS + 1 },
    { identityPrefix: 'a', exempt: true },
  ]
  const { ofIdentity } = tableOf(overrides)
  expect([ofIdentity('acme', '=acme'), ofIdentity('acme', stored), ofIdentity('ada', '=ada')]).toEqual([
    1, 1, 2,
  ])
  const ended = tableOf(overrides.map((each) => (each.block ? { ...each, until: NOW_MS } : each)))
  expect(ended.ofIdentity('acme', '=acme')).toBe(0)
})

test('an identity of several keys is one of them all', () => {
  const { ofIdentity } = tableOf([{ identity: ['acme', '/search'], exempt: true }])
  expect(ofIdentity('acme\0/search')).toBe(0)
  expect(ofIdentity('acme/search')).toBeUndefined()
})

test('the longest network applies, of IPv4 and of IPv6', () => {
  const { ofAddress } = tableOf([
    { network: '203.0.113.0/24', block: true },
    { network: '203.0.113.7', exempt: true },
    { network: '0.0.0.0/0', exempt: true },
    { network: '2001:db8::/32', block: true },
    { network: '2001:db8:0:1::/64', exempt: true },
    { network: '::ffff:10.0.0.0/104', exempt: true },
  ])
  expect(ofAddress('203.0.113.7')).toBe(1)
  expect(ofAddress('203.0.113.8')).toBe(0)
  expect(ofAddress('203.0.114.0')).toBe(2)
  expect(ofAddress('255.255.255.255')).toBe(2)
  expect(ofAddress('10.2.3.4')).toBe(5)
  expect(ofAddress('2001:db8::1')).toBe(3)
  expect(ofAddress('2001:db8:0:1:ffff::')).toBe(4)
  expect(ofAddress('2001:db8:0:2::')).toBe(3)
  expect(ofAddress('2001:db9::')).toBeUndefined()
})

test('an override that has ended gives way to the next one', () => {
  const { ofIdentity, ofAddress } = tableOf([
    { identity: 'acme', exempt: true, until: NOW_MS },
    { identityPrefix: 'acm', exempt: true, until: NOW_MS },
    { identityPrefix: 'a', exempt: true, until: NOW_MS + 1 },
    { network: '10.0.0.0/8', exempt: true },
    { network: '10.1.0.0/16', exempt: true, until: new Date(NOW_MS).toISOString() },
    { network: '10.1.1.0/24', exempt: true, until: NOW_MS - 1 },
  ])
  expect(ofIdentity('acme')).toBe(2)
  expect(ofAddress('10.1.1.1')).toBe(3)
})

test('an override that has ended gives way to one whose network the limiter reads as the same', () => {
  const { ofAddress } = tableOf(
    [
      { network: '10.0.0.0/8', block: true },
      { network: '2001:db8:aaaa::a00:0/104', exempt: true, until: NOW_MS },
    ],
    embeddingsWith('byIp', ['2001:db8:aaaa::/96']),
  )
  expect(ofAddress('10.1.2.3')).toBe(0)
})

const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 1, maxLength: 6 })
const ipv4 = fc
  .array(fc.constantFrom(0, 1, 127, 128, 255), { minLength: 4, maxLength: 4 })
  .map((octets) => octets.join('.'))
const ipv6 = fc
  .array(fc.constantFrom('0', '1', '8000', 'ffff'), { minLength: 8, maxLength: 8 })
  .map((parts) => ['2a00', ...parts.slice(1)].join(':'))
const networks = fc.oneof(
  fc.tuple(ipv4, fc.integer({ min: 0, max: 32 })),
  fc.tuple(ipv6, fc.integer({ min: 1, max: 128 })),
)

test('a table finds what a search one by one finds', () => {
  const longestFirst = (a: readonly [unknown, number], b: readonly [unknown, number]) => b[1] - a[1]
  fc.assert(
    fc.property(
      fc.uniqueArray(texts, { maxLength: 12 }),
      fc.array(networks, { maxLength: 12 }),
      fc.array(texts, { maxLength: 20 }),
      fc.array(fc.oneof(ipv4, ipv6), { maxLength: 20 }),
      (prefixes, given, identities, addresses) => {
        const ranges = given.map(([address, bits]): [string, number] => [`${address}/${bits}`, bits])
        const prefixTable = tableOf(prefixes.map((identityPrefix) => ({ identityPrefix, exempt: true })))
        for (const identity of identities) {
          const expected = prefixes
            .map((prefix, i): [number, number] => [i, prefix.length])
            .filter(([i]) => identity.startsWith(prefixes[i] as string))
            .sort(longestFirst)[0]?.[0]
          expect(prefixTable.ofIdentity(identity)).toBe(expected)
        }
        const networkTable = tableOf(ranges.map(([network]) => ({ network, exempt: true })))
        for (const address of addresses) {
          const found = networkTable.ofAddress(address)
          const containing = ranges.filter(([range]) => contains(range, address)).sort(longestFirst)
          expect(found === undefined ? undefined : ranges[found]?.[1]).toBe(containing[0]?.[1])
          if (found !== undefined) expect(contains(ranges[found]?.[0] as string, address)).toBe(true)
        }
      },
    ),
  )
})

function contains(text: string, address: string): boolean {
  const network = ipaddr.parseCIDR(text)
  const sought = ipaddr.parse(address)
  return network[0].kind() === sought.kind() && sought.match(network)
}
