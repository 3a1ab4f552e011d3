import ipaddr from 'ipaddr.js'
import { wrongOption } from '../util/validate.js'

/** An IPv6 network whose addresses embed the IPv4 address of the client. */
export interface Embedding {
  readonly network: readonly [ipaddr.IPv6, prefix: number]
  /** The bit at which the IPv4 address begins. */
  readonly ipv4At: number
  /** Whether the bits of the IPv4 address are inverted. */
  readonly isInverted?: true
  /** Whether anybody may route the network, so that a private address in it cannot be trusted. */
  readonly isPublic?: true
}

const network = (cidr: string) => ipaddr.IPv6.parseCIDR(cidr)

/** The networks that are the same everywhere. */
export const EMBEDDINGS: readonly Embedding[] = [
  // IPv4-mapped, as sockets write it (RFC 4291 §2.5.5.2).
  { network: network('::ffff:0:0/96'), ipv4At: 96 },
  // NAT64 (RFC 6052 §2.1).
  { network: network('64:ff9b::/96'), ipv4At: 96, isPublic: true },
  // 6to4 (RFC 3056 §2).
  { network: network('2002::/16'), ipv4At: 16, isPublic: true },
  // Teredo: the server's address comes first, the client's last (RFC 4380 §4).
  { network: network('2001::/32'), ipv4At: 96, isPublic: true, isInverted: true },
]

/**
 * Returns the networks above, and before them those of an operator's own NAT64 translators. Throws a
 * `TypeError` for anything but an array of prefixes of 96 bits, after which RFC 6052 §2.2 puts the IPv4
 * address.
 */
export function embeddingsWith(owner: string, nat64: unknown = []): readonly Embedding[] {
  const isList = Array.isArray(nat64) && Array.from(nat64).every(isNat64Prefix)
  if (isList) return [...nat64.map((cidr) => ({ network: network(cidr), ipv4At: 96 })), ...EMBEDDINGS]
  const fix = "Did you mean nat64: ['2001:db8:64::/96']?"
  throw wrongOption(owner, 'nat64', 'an array of IPv6 prefixes of 96 bits', nat64, fix)
}

function isNat64Prefix(value: unknown): boolean {
  return typeof value === 'string' && /^[\da-f:.]+\/96$/i.test(value) && ipaddr.IPv6.isValidCIDR(value)
}

export function embeddingOf(address: ipaddr.IPv6, embeddings: readonly Embedding[]): Embedding | undefined {
  return embeddings.find(({ network: [first, prefix] }) => address.match(first, prefix))
}

const NOT_GLOBAL = /^(unspecified|loopback|private|carrierGradeNat|linkLocal|multicast|broadcast)$/

/**
 * Returns the IPv4 address that an address of this network stands for; `undefined` if a public network
 * embeds one that is not global, which RFC 3056 §2 and RFC 6052 §3.1 forbid: whoever sent it would pass for
 * an address of the operator's own network.
 */
export function embeddedIpv4(
  address: ipaddr.IPv6,
  { ipv4At, isInverted, isPublic }: Embedding,
): string | undefined {
  const octets = address.toByteArray().slice(ipv4At / 8, ipv4At / 8 + 4)
  const ipv4 = new ipaddr.IPv4(isInverted ? octets.map((octet) => octet ^ 0xff) : octets)
  return isPublic && NOT_GLOBAL.test(ipv4.range()) ? undefined : ipv4.toString()
}
