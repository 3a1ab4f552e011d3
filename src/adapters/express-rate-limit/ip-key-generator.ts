import { isIPv6 } from 'node:net'
import { addressIdentity, parseAddress } from '../../keys/address.js'
import { show } from '../../util/validate.js'
import { numberOf } from './numbers.js'

/**
 * Returns the key of an address: an IPv6 address as its network of `ipv6Subnet` bits, such as
 * `2001:db8::/56`, since a home gets a whole network; IPv4 embedded in IPv6 as IPv4; anything else as it is.
 * With `false`, an IPv6 address stays whole. Default 56. Digits are also a length: `'64'`.
 *
 * Throws a `RangeError` for a length that is not a whole number of bits from 1 to 128.
 */
export function ipKeyGenerator(ip: string, ipv6Subnet: number | false = 56): string {
  if (!isIPv6(ip)) return ip
  const address = parseAddress(ip)
  if (address === undefined) return ip
  if (typeof address === 'string') return address
  if (!ipv6Subnet) return ip
  const bits = numberOf(ipv6Subnet)
  if (Number.isInteger(bits) && bits >= 0 && bits <= 128) return addressIdentity(address, bits)
  const must = 'a whole number from 1 to 128, or false'
  throw new RangeError(`ipKeyGenerator: ipv6Subnet must be ${must}, got ${show(ipv6Subnet)}.`)
}
