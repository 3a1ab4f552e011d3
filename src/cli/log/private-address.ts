import { type Address, parseAddress } from '../../keys/address.js'
import { addressList } from '../../keys/address-list.js'
import { isPlainIpv4 } from '../../keys/ip-text.js'
import { RecentMap } from '../../util/recent-map.js'

const PRIVATE_IPV4 =
  /^(?:(?:10|127)(?:\.\d{1,3}){3}|(?:172\.(?:1[6-9]|2\d|3[01])|192\.168|169\.254|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))(?:\.\d{1,3}){2})$/

const PRIVATE_RANGES = [
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '169.254.0.0/16', '100.64.0.0/10'],
  ...['fc00::/7', 'fe80::/10', '::1/128'],
]
const isInPrivateRange: (address: Address | undefined) => boolean = addressList(
  'cli',
  'private',
  PRIVATE_RANGES,
)

/** Returns whether a plain IPv4 address is private. All of those begin with a 1. */
export function isPrivateIpv4(address: string): boolean {
  return address.charCodeAt(0) === ONE && PRIVATE_IPV4.test(address)
}

const ONE = 49

/** How many spellings of other than plain IPv4 addresses are cached, and how long they may be. */
const CACHED = 10_000
const MAX_CACHED_LENGTH = 100
const cache = new RecentMap<boolean>(CACHED)

/**
 * Returns whether a text is an address that the internet does not route: of a private network, a carrier's
 * shared network, this machine, or a link. Such a connection comes from a proxy or from the inside.
 */
export function isPrivateAddress(text: string): boolean {
  if (isPlainIpv4(text)) return isPrivateIpv4(text)
  if (text.length > MAX_CACHED_LENGTH) return false
  const cached = cache.get(text)
  if (cached !== undefined) return cached
  const isPrivate = isInPrivateRange(parseAddress(text))
  cache.set(text, isPrivate)
  return isPrivate
}
