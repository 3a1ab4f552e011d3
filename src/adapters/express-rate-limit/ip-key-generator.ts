import { isIPv6 } from 'node:net'
import { addressIdentity, parseAddress } from '../../keys/address.js'
import { show } from '../../util/validate.js'
import { numberOf } from './numbers.js'

/**
 * Returns the key of an IP address, for a `keyGenerator` that uses addresses. An IPv6 address becomes its
 * network of `ipv6Subnet` bits, such as `2001:db8::/56`, because a home gets a whole network. IPv4 embedded
 * in IPv6 becomes IPv4. Anything else stays as it is.
 *
 * `ipv6Subnet` is 56 by default. With `false`, an IPv6 address stays whole. Digits are also a length:
 * `'64'`. Throws a `RangeError` for a length that is not a whole number of bits from 1 to 128.
 *
 * @example
 * ```ts
 * import { ipKeyGenerator, rateLimit } from 'headgate/express-rate-limit'
 *
 * const limiter = rateLimit({
 *   windowMs: 60_000,
 *   limit: 100,
 *   keyGenerator: (req) => req.user?.id ?? ipKeyGenerator(req.ip ?? ''),
 * })
 * ```
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
