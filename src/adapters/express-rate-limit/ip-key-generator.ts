import { isIPv6 } from 'node:net'
import { addressIdentity, parseAddress } from '../../keys/address.js'

/**
 * Returns the key of an address: an IPv6 address as its network of `ipv6Subnet` bits, such as
 * `2001:db8::/56`, since a home gets a whole network; IPv4 embedded in IPv6 as IPv4; anything else as it is.
 * With `false`, an IPv6 address stays whole. Default 56.
 */
export function ipKeyGenerator(ip: string, ipv6Subnet: number | false = 56): string {
  if (!isIPv6(ip)) return ip
  const address = parseAddress(ip)
  if (address === undefined) return ip
  if (typeof address === 'string') return address
  return ipv6Subnet ? addressIdentity(address, ipv6Subnet) : ip
}
