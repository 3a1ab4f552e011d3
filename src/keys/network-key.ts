import type { Address } from './address.js'
import type { Range } from './address-list.js'

/** The bits of an address: one number for IPv4, and eight 16-bit parts for IPv6. */
export type AddressBits = number | readonly number[]

export function bitsOf(address: Address): AddressBits {
  return typeof address === 'string' ? joinOctets(address.split('.')) : address.parts
}

function joinOctets(octets: readonly unknown[]): number {
  let bits = 0
  for (const octet of octets) bits = bits * 256 + Number(octet)
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
  return networkKey('octets' in network ? joinOctets(network.octets) : network.parts, prefix)
}
