import type { Address } from './address.js'
import type { Range } from './address-list.js'

/** The bits of an address: one number of IPv4, and eight parts of IPv6. */
export type AddressBits = number | readonly number[]

export function bitsOf(address: Address): AddressBits {
  return typeof address === 'string' ? joinOctets(address.split('.')) : address.parts
}

function joinOctets(octets: readonly unknown[]): number {
  let bits = 0
  for (const octet of octets) bits = bits * 256 + Number(octet)
  return bits
}

/** Returns a value that only addresses with the same first `prefix` bits have in common. */
export function networkKey(bits: AddressBits, prefix: number): number | string {
  if (typeof bits === 'number') return Math.floor(bits / 2 ** (32 - prefix))
  const whole = prefix >> 4
  let key = ':'
  for (let i = 0; i < whole; i++) key += `${bits[i]}:`
  return prefix % 16 === 0 ? key : `${key}${(bits[whole] ?? 0) >> (16 - (prefix % 16))}`
}

/** Returns the key of a range, whose addresses alone have it. */
export function rangeKey([network, prefix]: Range): number | string {
  return networkKey('octets' in network ? joinOctets(network.octets) : network.parts, prefix)
}
