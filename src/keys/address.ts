import ipaddr from 'ipaddr.js'
import { EMBEDDINGS, embeddedIpv4, embeddingOf } from './embedded-ipv4.js'

/** IPv4, also if it is embedded in IPv6 (mapped, NAT64, 6to4, Teredo), as plain text; IPv6 parsed. */
export type Address = string | ipaddr.IPv6

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const PLAIN_IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`)

export function isPlainIpv4(text: string): boolean {
  return PLAIN_IPV4.test(text)
}

/** How a server that listens on `::` writes IPv4 addresses (RFC 4291 §2.5.5.2). */
const MAPPED = '::ffff:'

/**
 * Returns an address as sockets and proxies write it: with or without a port, brackets, or a zone (`%eth0`).
 * One in the network of an embedding is the IPv4 address in it. Returns `undefined` for everything else, so
 * also for the octal, hexadecimal and shortened spellings of IPv4, which programs read differently.
 */
export function parseAddress(text: string | undefined, embeddings = EMBEDDINGS): Address | undefined {
  if (text === undefined || PLAIN_IPV4.test(text)) return text
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
  const hexadecimal = withoutDots(withoutZone)
  return ipaddr.IPv6.isValid(hexadecimal) ? ipaddr.IPv6.parse(hexadecimal) : undefined
}

/** Returns an IPv6 address with its last 32 bits in hexadecimal: ipaddr.js 2.5 reads `::1.2.3.4` as mapped. */
function withoutDots(text: string): string {
  const [, head, dotted = ''] = /^(.*:)([^:]*\.[^:]*)$/.exec(text) ?? []
  if (head === undefined) return text
  if (!isPlainIpv4(dotted)) return ''
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
  return `${head}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

function withoutPort(text: string): string {
  const [, bracketed, ported] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? []
  return bracketed ?? ported ?? text
}

/** Returns an identity: IPv4 whole, IPv6 as its network of `ipv6Prefix` bits, such as `2001:db8::/56`. */
export function addressIdentity(address: Address, ipv6Prefix: number): string {
  if (typeof address === 'string') return address
  const bytes = address.toByteArray().map((byte, i) => {
    const keptBits = Math.max(0, Math.min(8, ipv6Prefix - i * 8))
    return byte & (0xff << (8 - keptBits))
  })
  return `${new ipaddr.IPv6(bytes).toString()}/${ipv6Prefix}`
}
