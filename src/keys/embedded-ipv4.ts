import ipaddr from 'ipaddr.js'
import { show, wrongOption } from '../util/validate.js'

/** An IPv6 network whose addresses embed the IPv4 address of the client. */
export interface EmbeddingNetwork {
  readonly network: ipaddr.IPv6
  /** The length of the network's prefix. */
  readonly prefix: number
  /** The bit at which the IPv4 address begins. */
  readonly ipv4At: number
  /** Whether the bits of the IPv4 address are inverted. */
  readonly isInverted?: true
  /** Whether anybody may route the network, so that an embedded private address must be nobody's. */
  readonly isPublic?: true
}

/** The networks that are the same everywhere. */
export const EMBEDDING_NETWORKS: readonly EmbeddingNetwork[] = [
  embedding('::ffff:0:0', 96, 96), // IPv4-mapped, as sockets write it (RFC 4291 §2.5.5.2)
  embedding('64:ff9b::', 96, 96, { isPublic: true }), // NAT64 (RFC 6052 §2.1)
  embedding('2002::', 16, 16, { isPublic: true }), // 6to4 (RFC 3056 §2)
  // Teredo: the server's address comes first, the client's last (RFC 4380 §4).
  embedding('2001::', 32, 96, { isPublic: true, isInverted: true }),
]

function embedding(
  network: string,
  prefix: number,
  ipv4At: number,
  rest: Pick<EmbeddingNetwork, 'isInverted' | 'isPublic'> = {},
): EmbeddingNetwork {
  return { network: ipaddr.IPv6.parse(network), prefix, ipv4At, ...rest }
}

/**
 * Returns the networks above, and before them those of an operator's own NAT64 translators.
 * Throws a `TypeError` for anything but an array of prefixes of 96 bits, after which RFC 6052 §2.2 puts the
 * IPv4 address.
 */
export function embeddingNetworks(owner: string, nat64: unknown): readonly EmbeddingNetwork[] {
  if (nat64 === undefined) return EMBEDDING_NETWORKS
  if (!Array.isArray(nat64)) {
    const fix = "Did you mean nat64: ['2001:db8:64::/96']?"
    throw wrongOption(owner, 'nat64', 'an array of IPv6 prefixes of 96 bits', nat64, fix)
  }
  return [...nat64.map((entry) => readPrefix(owner, entry)), ...EMBEDDING_NETWORKS]
}

function readPrefix(owner: string, entry: unknown): EmbeddingNetwork {
  const [, network] = typeof entry === 'string' ? (/^([\da-f:.]+)\/96$/i.exec(entry) ?? []) : []
  if (network !== undefined && ipaddr.IPv6.isValid(network)) return embedding(network, 96, 96)
  throw new TypeError(
    `${owner}: nat64 must hold IPv6 prefixes of 96 bits, got ${show(entry)}. Write such as '2001:db8:64::/96'.`,
  )
}

/** Returns the network of these in which `address` lies. */
export function embeddingNetworkOf(
  address: ipaddr.IPv6,
  networks: readonly EmbeddingNetwork[],
): EmbeddingNetwork | undefined {
  return networks.find(({ network, prefix }) => address.match(network, prefix))
}

const NOT_GLOBAL: readonly string[] = [
  'unspecified',
  'loopback',
  'private',
  'carrierGradeNat',
  'linkLocal',
  'multicast',
  'broadcast',
]

/**
 * Returns the IPv4 address that an address of this network stands for; `undefined` where a public network
 * embeds one that is not global, which RFC 3056 §2 and RFC 6052 §3.1 forbid: whoever sent it would pass for
 * an address of the operator's own network.
 */
export function ipv4Within(address: ipaddr.IPv6, embedding: EmbeddingNetwork): ipaddr.IPv4 | undefined {
  const ipv4 = embeddedIpv4(address, embedding)
  return embedding.isPublic && NOT_GLOBAL.includes(ipv4.range()) ? undefined : ipv4
}

/** Returns the IPv4 address that an address of this network embeds. */
function embeddedIpv4(address: ipaddr.IPv6, { ipv4At, isInverted }: EmbeddingNetwork): ipaddr.IPv4 {
  const octets = address.toByteArray().slice(ipv4At / 8, ipv4At / 8 + 4)
  return new ipaddr.IPv4(isInverted ? octets.map((octet) => octet ^ 0xff) : octets)
}
