import { wrongOption } from '../util/validate.js'
import { type Ipv6, parseIpv6 } from './ip-text.js'
import { ipv4Text, isInRange } from './network-key.js'

/** An IPv6 network whose addresses embed the IPv4 address of the client. */
export interface Embedding {
  /** The groups in which the prefix lies, and its length. */
  readonly network: readonly [Ipv6, prefix: number]
  /** The bit at which the IPv4 address begins. */
  readonly ipv4At: number
  /** Whether the bits of the IPv4 address are inverted. */
  readonly isInverted?: true
  /** Whether anybody may route the network, so that a private address in it cannot be trusted. */
  readonly isPublic?: true
  /** Whether an entry of a list that names the whole network stands for every IPv4 address. */
  readonly isAllOfIpv4?: true
}

/** The networks that are the same everywhere. */
export const EMBEDDINGS: readonly Embedding[] = [
  // IPv4-mapped, as sockets write it: ::ffff:0:0/96 (RFC 4291 §2.5.5.2).
  { network: [[0, 0, 0, 0, 0, 0xffff], 96], ipv4At: 96, isAllOfIpv4: true },
  // NAT64: 64:ff9b::/96 (RFC 6052 §2.1).
  { network: [[0x64, 0xff9b], 96], ipv4At: 96, isPublic: true },
  // 6to4: 2002::/16 (RFC 3056 §2).
  { network: [[0x2002], 16], ipv4At: 16, isPublic: true },
  // Teredo, 2001::/32: the server's address comes first, the client's last (RFC 4380 §4).
  { network: [[0x2001, 0], 32], ipv4At: 96, isPublic: true, isInverted: true },
]

/**
 * Returns the networks above, and before them those of an operator's own NAT64 translators. Throws a
 * `TypeError` for anything but an array of prefixes of 96 bits, after which RFC 6052 §2.2 puts the IPv4
 * address.
 */
export function embeddingsWith(owner: string, nat64: unknown = []): readonly Embedding[] {
  const networks = Array.isArray(nat64) ? Array.from(nat64, readPrefix) : [undefined]
  if (networks.every((network) => network !== undefined))
    return [...networks.map((network) => ({ network: [network, 96], ipv4At: 96 }) as const), ...EMBEDDINGS]
  const fix = "Did you mean nat64: ['2001:db8:64::/96']?"
  throw wrongOption(owner, 'nat64', 'an array of IPv6 prefixes of 96 bits', nat64, fix)
}

function readPrefix(value: unknown): Ipv6 | undefined {
  return typeof value === 'string' && value.endsWith('/96') ? parseIpv6(value.slice(0, -3)) : undefined
}

export function embeddingOf(address: Ipv6, embeddings: readonly Embedding[]): Embedding | undefined {
  return embeddings.find(({ network }) => isInRange(address, network))
}

/** Loopback, private and shared addresses, link-local ones, multicast and broadcast, and 0.0.0.0/8. */
const NOT_GLOBAL =
  /^(0|10|127|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])|169\.254|172\.(1[6-9]|2\d|3[01])|192\.168|22[4-9]|23\d)\.|^255\.255\.255\.255$/

/**
 * Returns the IPv4 address that an address of this network stands for; `undefined` if a public network
 * embeds one that is not global, which RFC 3056 §2 and RFC 6052 §3.1 forbid: whoever sent it would pass for
 * an address of the operator's own network.
 */
export function embeddedIpv4(address: Ipv6, { ipv4At, isInverted, isPublic }: Embedding): string | undefined {
  const [high = 0, low = 0] = address.slice(ipv4At / 16)
  const bits = (high << 16) | low
  const text = ipv4Text(isInverted ? ~bits : bits)
  return isPublic && NOT_GLOBAL.test(text) ? undefined : text
}
