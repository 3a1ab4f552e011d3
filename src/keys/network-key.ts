import type { Address } from './address.js'
import { formatIpv6, type Ipv6, ipv6Network } from './ip-text.js'

/** The bits of an address: one number for IPv4, and eight 16-bit groups for IPv6. */
export type AddressBits = number | Ipv6

/** A network and the length of its prefix. */
export type Range = readonly [network: AddressBits, prefix: number]

export function bitsOf(address: Address): AddressBits {
  if (typeof address !== 'string') return address
  let bits = 0
  for (const octet of address.split('.')) bits = bits * 256 + Number(octet)
  return bits
}

/** Returns a value that two addresses share only if their first `prefix` bits are the same. */
export function networkKey(bits: AddressBits, prefix: number): number | string {
  if (typeof bits === 'number') return Math.floor(bits / 2 ** (32 - prefix))
  const whole = prefix >> 4
  let key = ':'
  for (let i = 0; i < whole; i++) key += `${bits[i]}:`
  return prefix % 16 === 0 ? key : `${key}${(bits[whole] ?? 0) >> (16 - (prefix % 16))}`
}

/** Returns the `networkKey` that the addresses in a range have, and no others. */
export function rangeKey([network, prefix]: Range): number | string {
  return networkKey(network, prefix)
}

/** Returns whether an address is in a range. No IPv4 address is in an IPv6 range. */
export function isInRange(bits: AddressBits, [network, prefix]: Range): boolean {
  if (typeof bits === 'number' || typeof network === 'number')
    return networkKey(bits, prefix) === networkKey(network, prefix)
  for (let i = 0; i * 16 < prefix; i++) {
    const difference = (bits[i] ?? 0) ^ (network[i] ?? 0)
    if (difference >> Math.max(0, 16 * (i + 1) - prefix) !== 0) return false
  }
  return true
}

/** Returns the text of the network that an address is in. */
export function networkText(address: Address, prefix: number): string {
  if (typeof address !== 'string') return formatIpv6(ipv6Network(address, prefix))
  const size = 2 ** (32 - prefix)
  return ipv4Text(Number(networkKey(bitsOf(address), prefix)) * size)
}

/** Returns the text of a range, such as `10.0.0.0/8`, which equal ranges share. */
export function rangeText([network, prefix]: Range): string {
  const address = typeof network === 'number' ? ipv4Text(network) : network
  return `${networkText(address, prefix)}/${prefix}`
}

/** Formats the bits of an IPv4 address in dotted form. */
export function ipv4Text(bits: number): string {
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.')
}
