import { EMBEDDINGS, embeddedIpv4, embeddingOf } from './embedded-ipv4.js'
import { formatIpv6, type Ipv6, ipv6Network, isPlainIpv4, parseIpv6 } from './ip-text.js'

/** IPv4, also if it is embedded in IPv6 (mapped, NAT64, 6to4, Teredo), as plain text; IPv6 parsed. */
export type Address = string | Ipv6

/** How a server that listens on `::` writes IPv4 addresses (RFC 4291 §2.5.5.2). */
const MAPPED = '::ffff:'

/**
 * Returns an address as sockets and proxies write it: with or without a port, brackets, or a zone (`%eth0`).
 * One in the network of an embedding is the IPv4 address in it. Returns `undefined` for everything else, so
 * also for the octal, hexadecimal and shortened spellings of IPv4, which programs read differently.
 */
export function parseAddress(text: string | undefined, embeddings = EMBEDDINGS): Address | undefined {
  if (text === undefined || isPlainIpv4(text)) return text
  if (text.startsWith(MAPPED) && isPlainIpv4(text.slice(MAPPED.length))) return text.slice(MAPPED.length)
  const address = parseAsWritten(text)
  if (address === undefined || typeof address === 'string') return address
  const embedding = embeddingOf(address, embeddings)
  return (embedding && embeddedIpv4(address, embedding)) ?? address
}

/** Returns an address as `parseAddress` does, but does not extract an embedded IPv4 address. */
export function parseAsWritten(text: string): Address | undefined {
  if (text.length > 100) return undefined
  const bare = withoutPort(text.trim())
  if (isPlainIpv4(bare)) return bare
  const [withoutZone = ''] = bare.split('%', 1)
  return parseIpv6(withoutZone)
}

/** Returns whether a text is an address, or a range of addresses such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  return parseAsWritten(text.split('/', 1)[0] ?? '') !== undefined
}

function withoutPort(text: string): string {
  const [, bracketed, ported] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? []
  return bracketed ?? ported ?? text
}

/** Returns an identity: IPv4 whole, IPv6 as its network of `ipv6Prefix` bits, such as `2001:db8::/56`. */
export function addressIdentity(address: Address, ipv6Prefix: number): string {
  if (typeof address === 'string') return address
  return `${formatIpv6(ipv6Network(address, ipv6Prefix))}/${ipv6Prefix}`
}
