import ipaddr from 'ipaddr.js'
import { EMBEDDING_NETWORKS, embeddingNetworkOf, ipv4Within } from './embedded-ipv4.js'

/** A parsed address. IPv4 embedded in IPv6 (mapped, NAT64, 6to4, Teredo) is IPv4 here. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Reads an address as sockets and proxies write it: with or without a port, brackets, or a zone (`%eth0`).
 * One of `networks` is the IPv4 address that it embeds.
 * `undefined` for everything else, so also for the octal, hexadecimal and shortened spellings of IPv4, which
 * different programs read differently.
 */
export function parseAddress(text: string, networks = EMBEDDING_NETWORKS): Address | undefined {
  const address = parseAsWritten(text)
  if (address === undefined || address instanceof ipaddr.IPv4) return address
  const embedding = embeddingNetworkOf(address, networks)
  return (embedding && ipv4Within(address, embedding)) ?? address
}

/** As `parseAddress`, but leaves IPv6 as it is written. */
export function parseAsWritten(text: string): Address | undefined {
  if (text.length > 100) return undefined
  const bare = withoutPort(text.trim())
  if (!bare.includes(':'))
    return ipaddr.IPv4.isValidFourPartDecimal(bare) ? ipaddr.IPv4.parse(bare) : undefined
  const zoneless = bare.split('%', 1)[0] as string
  return ipaddr.IPv6.isValid(zoneless) ? ipaddr.IPv6.parse(zoneless) : undefined
}

function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)
  if (bracketed) return bracketed[1] as string
  const ported = /^([\d.]+):\d{1,5}$/.exec(text)
  return ported ? (ported[1] as string) : text
}

/** The identity of an address: IPv4 whole, IPv6 as its network of `ipv6Prefix` bits, such as `2001:db8::/56`. */
export function addressIdentity(address: Address, ipv6Prefix: number): string {
  if (address.kind() === 'ipv4') return address.toString()
  const bytes = address.toByteArray()
  for (let i = 0; i < 16; i++) {
    const kept = Math.max(0, Math.min(8, ipv6Prefix - i * 8))
    bytes[i] = (bytes[i] as number) & (0xff << (8 - kept))
  }
  return `${new ipaddr.IPv6(bytes).toString()}/${ipv6Prefix}`
}

/** Whether a text is a plain IPv4 address in its one canonical spelling, told without a regular expression. */
export function isPlainIpv4(text: string): boolean {
  let dots = 0
  let digits = 0
  let value = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 46) {
      if (digits === 0 || ++dots > 3) return false
      digits = 0
      value = 0
      continue
    }
    if (code < 48 || code > 57 || (digits > 0 && value === 0)) return false
    value = value * 10 + (code - 48)
    if (++digits > 3 || value > 255) return false
  }
  return dots === 3 && digits > 0
}
