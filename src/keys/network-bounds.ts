import type { Address } from './address.js'
import type { Range } from './address-list.js'

/**
 * An address as three numbers, which double precision holds exactly: of IPv6, its first 48 bits, the next 48
 * and the last 32; of IPv4, all of its bits, and zeros.
 */
export type Numbers = readonly [high: number, middle: number, low: number]

/** The first and the last address of a network. */
export interface Bounds {
  readonly first: Numbers
  readonly last: Numbers
}

/** The widths of the numbers, in bits. */
const IPV6_WIDTHS = [48, 48, 32]
const IPV4_WIDTHS = [32, 0, 0]

export function boundsOf([network, prefix]: Range): Bounds {
  const isIpv4 = network.kind() === 'ipv4'
  const numbers = numbersOf(isIpv4 ? network.toString() : (network as Exclude<Address, string>))
  const first = [...numbers] as [number, number, number]
  const last = [...numbers] as [number, number, number]
  let left = prefix
  for (const [i, width] of (isIpv4 ? IPV4_WIDTHS : IPV6_WIDTHS).entries()) {
    const hosts = 2 ** (width - Math.max(0, Math.min(width, left)))
    const number = numbers[i] as number
    first[i] = number - (number % hosts)
    last[i] = first[i] + hosts - 1
    left -= width
  }
  return { first, last }
}

/** Returns a text that two ranges share only if they have the same addresses. */
export function networkText(range: Range): string {
  const { first, last } = boundsOf(range)
  return `${range[0].kind()} ${first}-${last}`
}

/** Returns the numbers of an address. */
export function numbersOf(address: Address): Numbers {
  if (typeof address === 'string') return [ipv4Number(address), 0, 0]
  const { parts } = address
  return [
    join(parts, 0) * 0x1_0000 + (parts[2] ?? 0),
    join(parts, 3) * 0x1_0000 + (parts[5] ?? 0),
    join(parts, 6),
  ]
}

/** Joins two parts of 16 bits. */
function join(parts: readonly number[], at: number): number {
  return (parts[at] ?? 0) * 0x1_0000 + (parts[at + 1] ?? 0)
}

/** Returns a well-formed IPv4 address as one number. */
function ipv4Number(text: string): number {
  let number = 0
  let octet = 0
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit >= 0) octet = octet * 10 + digit
    else {
      number = number * 256 + octet
      octet = 0
    }
  }
  return number * 256 + octet
}

export function compareNumbers(a: Numbers, b: Numbers): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}

/** Returns the numbers after an address, in the same order. They need not be those of an address. */
export function numberAfter([high, middle, low]: Numbers): Numbers {
  return [high, middle, low + 1]
}
