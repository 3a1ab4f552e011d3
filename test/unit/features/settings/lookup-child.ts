import { OverrideTable, rowOf } from '../../../../src/features/settings/override-table.js'
import { parseAddress } from '../../../../src/keys/address.js'
import { EMBEDDINGS } from '../../../../src/keys/embedded-ipv4.js'
import { atOnce } from '../../../../src/util/slices.js'

const COUNT = 10_000
const LOOKUPS = 300_000
const ROUNDS = 15

/** Returns numbers of 32 bits that are spread evenly. */
const spread = (i: number) => (i * 2_654_435_761) % 2 ** 32
const octets = (number: number) => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.')
const parts = (number: number) => `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`

const names = Array.from({ length: COUNT }, (_, i) => `tenant-${spread(i)}`)
const distinct = (texts: readonly string[]) => [...new Set(texts)]

function tableOf(field: 'identity' | 'identityPrefix' | 'network', targets: readonly string[]) {
  const overrides = targets.map((target) => ({ [field]: target, exempt: true as const }))
  return atOnce(OverrideTable.steps(overrides.map((override) => rowOf('', override, {}, EMBEDDINGS))))
}

/** Returns the nanoseconds of CPU time of a lookup, in the best of some rounds: others share the machine. */
function measure(look: (i: number) => unknown): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    for (let i = 0; i < LOOKUPS; i++) look(i % COUNT)
    return (process.cpuUsage(before).user * 1000) / LOOKUPS
  })
  return Math.round(Math.min(...rounds))
}

const byIdentity = tableOf('identity', names)
const byPrefix = tableOf('identityPrefix', distinct(names.map((name, i) => name.slice(0, 11 + (i % 4)))))
const ipv4 = names.map((_, i) => octets(spread(i)))
const byIpv4 = tableOf('network', distinct(ipv4.map((address, i) => `${address}/${16 + (i % 17)}`)))
const ipv6 = names.map((_, i) => `2001:db8:${parts(spread(i))}::`)
const byIpv6 = tableOf('network', distinct(ipv6.map((address, i) => `${address}/${40 + (i % 25)}`)))

/** Strings as a server has them: read from bytes, and not those of the table. */
const read = (text: string) => Buffer.from(text).toString()
const identities = names.map(read)
const strangers = names.map((name) => read(`${name}-x`))
const addresses = ipv4.map((address, i) => parseAddress(read(i % 2 === 0 ? address : octets(spread(-i)))))
const addresses6 = ipv6.map((address) => parseAddress(read(`${address}5`)))

console.log(
  JSON.stringify({
    'an identity that has one': measure((i) => byIdentity.ofIdentity(identities[i] as string)),
    'an identity that has none': measure((i) => byIdentity.ofIdentity(strangers[i] as string)),
    'an identity by its prefix': measure((i) => byPrefix.ofIdentity(identities[i] as string)),
    'an IPv4 address': measure((i) => byIpv4.ofAddress(addresses[i])),
    'an IPv6 address': measure((i) => byIpv6.ofAddress(addresses6[i])),
  }),
)
